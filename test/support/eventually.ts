import { setImmediate } from 'node:timers/promises';

const turns = 2_000;

/** Repeats `check` (assertions) over turns of the event loop until it passes; its last failure is the result. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  for (let turn = 1; turn < turns; turn++) {
    try {
      await check();
      return;
    } catch {
      await setImmediate();
    }
  }
  await check();
}
