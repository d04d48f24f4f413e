/** The part of a name that determines its turn. */
interface Tried {
  /** Failed lookups since the last successful one. */
  readonly failures: number;
}

/**
 * Starts lookups, with a limit of how many run at a time. Lookups of names that failed last time run until their timeout, so they come
 * after all others and use at most half of the limit: many such names must not delay those that servers answer for.
 */
export class LookupTurns<N extends Tried> {
  private readonly limit: number;
  private readonly look: (name: N) => Promise<void>;
  /** Names that wait for a lookup, in order. */
  private readonly waiting = { likely: new Set<N>(), unlikely: new Set<N>() };
  private readonly running = { likely: 0, unlikely: 0 };

  /** `look` must not reject. */
  constructor(limit: number, look: (name: N) => Promise<void>) {
    this.limit = limit;
    this.look = look;
  }

  /** Starts the lookup of a name as soon as there is room. */
  add(name: N): void {
    this.waiting[laneOf(name)].add(name);
    this.next();
  }

  /** Removes a name that still waits. */
  remove(name: N): void {
    this.waiting.likely.delete(name);
    this.waiting.unlikely.delete(name);
  }

  private next(): void {
    const { likely, unlikely } = this.running;
    if (likely + unlikely >= this.limit) return;
    const mayBeUnlikely = unlikely < Math.ceil(this.limit / 2);
    const lane = this.waiting.likely.size > 0 || !mayBeUnlikely ? 'likely' : 'unlikely';
    const [name] = this.waiting[lane];
    if (name === undefined) return;
    this.waiting[lane].delete(name);
    this.running[lane] += 1;
    void this.look(name).finally(() => {
      this.running[lane] -= 1;
      this.next();
    });
  }
}

function laneOf({ failures }: Tried): 'likely' | 'unlikely' {
  return failures === 0 ? 'likely' : 'unlikely';
}
