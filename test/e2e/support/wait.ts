import { setTimeout as pause } from 'node:timers/promises';
import { slow } from './kubectl.ts';

const interval = 200;

/**
 * Asks `check` until it gives something, and gives that. An error counts as not yet. Throws after `seconds`, with the last
 * error; `what` says in that message what was waited for. The seconds are what a busy machine may take, no demand.
 */
export async function waitFor<T>(what: string, check: () => Promise<T | undefined>, seconds = 120): Promise<T> {
  const begin = Date.now();
  const end = begin + seconds * 1000;
  let failure: unknown;
  do {
    try {
      const result = await check();
      if (result !== undefined) {
        const waited = Math.round((Date.now() - begin) / 1000);
        if (waited > slow) console.log(`${waited} s: ${what}`);
        return result;
      }
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    await pause(interval);
  } while (Date.now() < end);
  throw new Error(`${what}: not within ${seconds} s`, { cause: failure });
}
