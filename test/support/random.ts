/** Choices that a seed determines, so that a run can be repeated. */
export interface Random {
  /** An integer from 0 on, below `limit`. */
  below(limit: number): number;
  /** Whether something happens that happens with this probability. */
  chance(probability: number): boolean;
  /** One of some items; the list must not be empty. */
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32: small, fast, and good enough for choices. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('there is nothing to pick from');
      return items[below(items.length)] as T;
    },
  };
}
