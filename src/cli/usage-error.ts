import { reasonOf } from '../files/errors.ts';

/** An error that the user can fix. The message says how, and no stack is shown. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Compares by name, because each bundle of commands has its own copy of the class (tools/build.ts). */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError';
}

/** Awaits a promise that rejects only because of its input. The UsageError contains `what`, the name of the input, and the reason. */
export async function orUsageError<T>(what: string, attempt: Promise<T>): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    throw new UsageError(`cannot use ${what}: ${placeOf(error, what)}${reasonOf(error)}`);
  }
}

/** The file that an error of `node:fs` is about, unless `what` contains it already. */
function placeOf(error: unknown, what: string): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  return typeof path === 'string' && !what.includes(path) ? `${path}: ` : '';
}
