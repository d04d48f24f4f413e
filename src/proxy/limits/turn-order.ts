import { LinkedSet } from './linked-set.ts';

const rankPlace = Symbol('rank');

/**
 * Values ordered by rank, a small integer, lowest first, and by insertion within a rank. Adding and removing take
 * constant time, and so does finding the first value while the lowest rank does not change. A value is in at most one order.
 */
export class TurnOrder<T extends object> {
  private readonly ranks: (LinkedSet<T> | undefined)[] = [];
  private size = 0;
  /** Lower ranks have no values. */
  private lowest = 0;

  /** Adds a value that is not in the order. */
  add(value: T, rank: number): void {
    const equals = (this.ranks[rank] ??= new LinkedSet(rankPlace));
    equals.add(value);
    this.size += 1;
    this.lowest = Math.min(this.lowest, rank);
  }

  /** `rank` must be the rank with which the value was added. */
  delete(value: T, rank: number): void {
    if (this.ranks[rank]?.delete(value) === true) this.size -= 1;
  }

  get first(): T | undefined {
    if (this.size === 0) return undefined;
    let equals = this.ranks[this.lowest];
    while (equals === undefined || equals.size === 0) {
      this.lowest += 1;
      equals = this.ranks[this.lowest];
    }
    return equals.first;
  }
}
