import { setImmediate } from 'node:timers/promises';

/** Turns of the event loop without a change after which nothing is under way within this process. */
const quietTurns = 500;

/**
 * The value after it has stopped growing, for what ends at a full buffer: no event tells that nothing more will come. Only for
 * what runs in this process and over loopback, where each turn of the event loop delivers what was sent in the one before.
 */
export async function settled(value: () => number): Promise<number> {
  let last = value();
  for (let quiet = 0; quiet < quietTurns; quiet += 1) {
    await setImmediate();
    if (value() === last) continue;
    last = value();
    quiet = 0;
  }
  return last;
}
