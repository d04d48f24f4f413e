/** `ATTACK=full` (`make attack`) runs every attack at full size; otherwise a small part of each runs with the other tests. */
export const isFull = process.env['ATTACK'] === 'full';

/** Seed of everything random; `SEED=n` repeats a run. */
export const seed = Number(process.env['SEED'] ?? 1);

/** The number to use: `small` with the other tests, `full` in `make attack`. */
export function scaled(small: number, full: number): number {
  return isFull ? full : small;
}

/** A generator of numbers from 0 to below 1 that gives the same sequence for the same seed (mulberry32). */
export function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
