import { setImmediate } from 'node:timers/promises';

/** Milliseconds; only a failure takes so long. */
const patience = 30_000;

/** Repeats `check` (assertions) in every turn of the event loop until it passes; its last failure is the result. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    try {
      await check();
      return;
    } catch {
      await setImmediate();
    }
  }
  await check();
}
