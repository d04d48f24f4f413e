/** One of those who share a budget. */
export interface Sharer {
  /** Those with the same owner count as one when it is decided who holds most. By default, each counts for itself. */
  readonly owner?: string;
  /** The amount that it holds now. */
  held(): number;
  /** Ends it, so that it holds nothing. */
  end(): void;
}

/**
 * An amount, of bytes or characters, that several connections share. Beyond it, those that hold most are ended: few large ones must not keep out the
 * others, and neither must many small ones of one owner. The last one is not ended, because no reconnection could help it; it has limits of its own.
 */
export class SharedBudget {
  private readonly limit: number;
  /** What each held when it was last counted. */
  private readonly counted = new Map<Sharer, number>();
  private total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts what one holds, after it may have become more. May end this one or others. */
  count(sharer: Sharer): void {
    this.recount(sharer);
    if (this.total <= this.limit) return;
    // What the others hold may have become less since they were counted.
    for (const other of this.counted.keys()) this.recount(other);
    while (this.total > this.limit && this.counted.size > 1) {
      const largest = this.largest();
      this.remove(largest);
      largest.end();
    }
  }

  /** Stops counting one that has ended. */
  remove(sharer: Sharer): void {
    this.total -= this.counted.get(sharer) ?? 0;
    this.counted.delete(sharer);
  }

  /** The largest one of the owner that holds most. There is at least one. */
  private largest(): Sharer {
    const owners = new Map<string | Sharer, number>();
    for (const [sharer, held] of this.counted) {
      const owner = sharer.owner ?? sharer;
      owners.set(owner, (owners.get(owner) ?? 0) + held);
    }
    const [greediest] = [...owners].reduce((most, next) => (next[1] > most[1] ? next : most));
    const own = [...this.counted].filter(([sharer]) => (sharer.owner ?? sharer) === greediest);
    return own.reduce((most, next) => (next[1] > most[1] ? next : most))[0];
  }

  /** Keeps the place of an entry: one that moved to the end would be counted again by a loop over all of them, without end. */
  private recount(sharer: Sharer): void {
    const held = sharer.held();
    this.total += held - (this.counted.get(sharer) ?? 0);
    if (held === 0) this.counted.delete(sharer);
    else this.counted.set(sharer, held);
  }
}
