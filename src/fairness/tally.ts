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
  private readonly amounts = new Map<string, { value: number }>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  of(key: string): number {
    return this.amounts.size === 0 ? 0 : (this.amounts.get(key)?.value ?? 0);
  }

  add(key: string, amount: number): void {
    const known = this.amounts.get(key);
    const next = (known?.value ?? 0) + amount;
    if (next <= 0) this.amounts.delete(key);
    else if (known === undefined) this.amounts.set(key, { value: next });
    else known.value = next;
    this.sum += amount;
  }
}
