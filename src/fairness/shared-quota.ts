import { LocalTally, type Tally } from './tally.ts';

/** The part of a quota that is for clients that hold little. */
const reserve = 1 / 16;
/** A client that holds this many times the free amount outside the reserve gets no more of that. */
const share = 14;
/** The part of a quota that a single client can hold. */
export const mostOfOne = (share * (1 - reserve)) / (1 + share);
/** A client that holds this part of the free amount gets nothing of the reserve. */
const little = 1 / 64;

/**
 * Whether a client may acquire one more item of a quota of `limit` items. `held` items are its own, `used` those of all clients. A single
 * client can hold seven eighths; two can hold nine twentieths each. Clients that take their shares one after the other leave a fifteenth
 * of what was free each time. So a few of them would use up everything, if there were no reserve. Clients need not be counted.
 */
export function mayHaveMore(held: number, used: number, limit: number): boolean {
  return held < Math.max(share * (limit * (1 - reserve) - used), little * (limit - used));
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
    const used = this.taken.total + others;
    if (mayHaveMore(this.taken.of(client) + others, used, this.limit)) return true;
    this.reached(used < this.limit ? 'share' : 'all');
    return false;
  }

  /** Acquires one item regardless of the limit, for room that is about to become free. */
  exceed(client: string): void {
    this.taken.add(client, 1);
  }

  /** Whether a client could not acquire the last of its items now. */
  isExceededBy(client: string): boolean {
    return !mayHaveMore(this.taken.of(client) - 1, this.taken.total - 1, this.limit);
  }

  /** The items that a client holds. */
  heldBy(client: string): number {
    return this.taken.of(client);
  }

  release(client: string, amount = 1): void {
    this.taken.add(client, -amount);
  }
}
