import { expect, test } from '@jest/globals';
import { systemClock } from '../../../../src/time/clock.ts';
import { WriteDelays } from '../../../../src/webhook/audit/write-delays.ts';

/** Delays with a clock that stands still, and the way to move it. */
function frozen() {
  let now = 0;
  const delays = new WriteDelays({ ...systemClock, now: () => now, random: () => 1 }, 5_000);
  return {
    delays,
    /** Milliseconds until the namespace is due. */
    wait: (namespace: string): number => {
      const began = now;
      while (!delays.isDue(namespace)) now += 1_000;
      return now - began;
    },
  };
}

test('retries of a report wait longer and longer, up to five minutes; a success ends that', () => {
  const { delays, wait } = frozen();
  expect(delays.isDue('shop')).toBe(true);
  const waited = Array.from({ length: 8 }, () => {
    delays.failed('shop');
    expect(delays.isDue('other')).toBe(true);
    return wait('shop');
  });
  expect(waited).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  delays.succeeded('shop');
  delays.failed('shop');
  expect(wait('shop')).toBe(5_000);
});

test('a server can request more, and a cleared delay is over', () => {
  const { delays, wait } = frozen();
  delays.failed('shop', 60_000);
  expect(wait('shop')).toBe(66_000);
  delays.failed('shop');
  delays.clear();
  expect(delays.isDue('shop')).toBe(true);
});
