import { setTimeout as pause } from 'node:timers/promises';

const interval = 200;

/**
 * Asks `check` until it gives something, and gives that. An error counts as not yet. Throws after `seconds`, with the last
 * error; `what` says in that message what was waited for. The seconds are what a busy machine may take, no demand.
 */
export async function waitFor<T>(what: string, check: () => Promise<T | undefined>, seconds = 120): Promise<T> {
  const end = Date.now() + seconds * 1000;
  let failure: unknown;
  do {
    try {
      const result = await check();
      if (result !== undefined) return result;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    await pause(interval);
  } while (Date.now() < end);
  throw new Error(`${what}: not within ${seconds} s`, { cause: failure });
}
