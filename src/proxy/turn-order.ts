import { LinkedSet } from './linked-set.ts';

/**
 * Values by a rank, a small whole number: the lowest rank comes first, and among equals the one that came first. Adding and
 * removing cost the same for any number of values; so does finding the first one, as long as the lowest rank stays where it is.
 */
export class TurnOrder<T> {
  private readonly ranks: (LinkedSet<T> | undefined)[] = [];
  private size = 0;
  /** No rank below it has values. */
  private lowest = 0;

  /** Adds a value that is not in it. */
  add(value: T, rank: number): void {
    const equals = (this.ranks[rank] ??= new LinkedSet());
    equals.add(value);
    this.size += 1;
    this.lowest = Math.min(this.lowest, rank);
  }

  /** `rank` is the one with which it was added. */
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
