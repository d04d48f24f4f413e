/** Amounts by key, and their sum. A key without an amount costs nothing. */
export interface Tally {
  readonly total: number;
  of(key: string): number;
  /** Adds to the amount of a key. `amount` may be negative, down to what was added before. */
  add(key: string, amount: number): void;
}

/** Creates the tallies of a data plane. Those of one name belong together in all threads that share them. */
export type TallySource = (name: string) => Tally;

/** The tally of a data plane with one thread. */
export class LocalTally implements Tally {
  private readonly amounts = new Map<string, number>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  of(key: string): number {
    return this.amounts.get(key) ?? 0;
  }

  add(key: string, amount: number): void {
    const next = (this.amounts.get(key) ?? 0) + amount;
    if (next > 0) this.amounts.set(key, next);
    else this.amounts.delete(key);
    this.sum += amount;
  }
}
