import { reasonOf } from '../files/errors.ts';

/** Something that whoever starts the program can put right; the message says how, and a stack would only hide it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Waits for something that fails only by what it was given; `what` cannot be used then, and the error says why. */
export async function orUsageError<T>(what: string, attempt: Promise<T>): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    throw new UsageError(`${what} cannot be used: ${reasonOf(error)}`);
  }
}
