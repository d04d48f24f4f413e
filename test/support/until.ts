import { setTimeout } from 'node:timers/promises';

const attempts = 1_000;

/** Repeats `check` (assertions) every ten milliseconds until it passes, for what takes the disk's or another process's time. */
export async function until(check: () => void | Promise<void>): Promise<void> {
  for (let attempt = 1; attempt < attempts; attempt++) {
    try {
      await check();
      return;
    } catch {
      await setTimeout(10);
    }
  }
  await check();
}
