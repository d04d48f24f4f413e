interface Share<T> {
  readonly value: T;
  readonly weight: number;
  /** The running balance: increases by the weight each turn, decreases by the total when chosen. */
  balance: number;
}

/**
 * Smooth weighted round robin. In each run of as many turns as the sum of the weights, every value is chosen as often
 * as its weight, distributed as evenly as possible. Values with weight 0 are never chosen.
 */
export class Balancer<T> {
  private readonly shares: readonly Share<T>[];
  private readonly total: number;

  /** Continues from the state of `previous` if its weights are the same, so that frequent changes do not skew the shares. */
  constructor(values: readonly { readonly value: T; readonly weight: number }[], previous?: Balancer<T>) {
    this.shares = values.filter(({ weight }) => weight > 0).map(({ value, weight }) => ({ value, weight, balance: 0 }));
    this.total = this.shares.reduce((sum, { weight }) => sum + weight, 0);
    if (previous !== undefined) this.resume(previous);
  }

  /** Returns the next value; `undefined` if all weights are 0. */
  next(): T | undefined {
    const [first] = this.shares;
    if (first === undefined || this.shares.length === 1) return first?.value;
    let chosen = first;
    for (const share of this.shares) {
      share.balance += share.weight;
      if (share.balance > chosen.balance) chosen = share;
    }
    chosen.balance -= this.total;
    return chosen.value;
  }

  private resume(previous: Balancer<T>): void {
    const same =
      previous.shares.length === this.shares.length &&
      previous.shares.every(({ weight }, position) => weight === this.shares[position]?.weight);
    if (!same) return;
    for (const [position, share] of this.shares.entries()) share.balance = previous.shares[position]?.balance ?? 0;
  }
}
