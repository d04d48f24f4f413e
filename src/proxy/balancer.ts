interface Share<T> {
  readonly value: T;
  readonly weight: number;
  /** The running balance: grows by the weight each turn, pays the total when chosen. */
  balance: number;
}

/**
 * Smooth weighted round robin: over each run of as many turns as the weights add up to, every value comes exactly
 * as often as its weight says, spread as evenly as possible. Weights of zero never come.
 */
export class Balancer<T> {
  private readonly shares: readonly Share<T>[];
  private readonly total: number;

  /** Goes on where `previous` stands if its weights are the same, so that frequent changes skew no shares. */
  constructor(values: readonly { readonly value: T; readonly weight: number }[], previous?: Balancer<T>) {
    this.shares = values.filter(({ weight }) => weight > 0).map(({ value, weight }) => ({ value, weight, balance: 0 }));
    this.total = this.shares.reduce((sum, { weight }) => sum + weight, 0);
    if (previous !== undefined) this.resume(previous);
  }

  /** The next value; `undefined` where no value has a weight. */
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
