import { reasonOf } from '../files/errors.ts';

/** Something that whoever starts the program can put right; the message says how, and a stack would only hide it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** By its name, since bundles of commands have a class of their own (tools/build.ts). */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError';
}

/** Waits for something that fails only because of its input. The error names the input, `what`, and the reason. */
export async function orUsageError<T>(what: string, attempt: Promise<T>): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    throw new UsageError(`cannot use ${what}: ${placeOf(error, what)}${reasonOf(error)}`);
  }
}

/** The file that an error of `node:fs` is about, unless it was named already. */
function placeOf(error: unknown, what: string): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  return typeof path === 'string' && !what.includes(path) ? `${path}: ` : '';
}
