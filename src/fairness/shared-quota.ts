import { LocalTally, type Tally } from './tally.ts';

/** A client that holds this many times the free amount of a quota gets no more of it. */
const share = 7;

/**
 * Whether a client may acquire one more item. `held` items are its own, `left` are free. A single client can hold seven
 * eighths; two can hold seven fifteenths each. A client without any always has room, and clients need not be counted.
 */
export function mayHaveMore(held: number, left: number): boolean {
  return held < share * left;
}

/** A quota shared by clients: a single client cannot exhaust it. */
export class SharedQuota {
  private readonly limit: number;
  private readonly reached: (limit: 'all' | 'share') => void;
  private readonly taken: Tally;

  /** `reached` is called each time there is no room: for any client (`all`), or for this one (`share`). */
  constructor(limit: number, reached: (limit: 'all' | 'share') => void, taken: Tally = new LocalTally()) {
    this.limit = limit;
    this.reached = reached;
    this.taken = taken;
  }

  get used(): number {
    return this.taken.total;
  }

  /** Acquires the whole amount or nothing; `false` if there is no room for this client. */
  take(client: string, amount = 1): boolean {
    if (!this.hasRoom(client, amount)) return false;
    this.taken.add(client, amount);
    return true;
  }

  /** Whether there is room for this amount for this client. */
  hasRoom(client: string, amount: number): boolean {
    // Checks the last item of the amount, which requires the most room.
    const others = amount - 1;
    const left = this.limit - this.taken.total - others;
    if (mayHaveMore(this.taken.of(client) + others, left)) return true;
    this.reached(left > 0 ? 'share' : 'all');
    return false;
  }

  release(client: string, amount = 1): void {
    this.taken.add(client, -amount);
  }
}
