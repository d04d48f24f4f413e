import type { Limit, ProxyCounters } from '../counters.ts';
import type { ProxyLimits } from './limits.ts';

/** A limit of concurrent items or bytes. */
export class Quota {
  private readonly limit: number;
  private readonly reached: () => void;
  private taken = 0;

  /** `reached` is called each time the quota is exceeded. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get used(): number {
    return this.taken;
  }

  /** Acquires `amount` items or bytes; `false` if there is no room. */
  take(amount = 1): boolean {
    if (this.taken + amount > this.limit) {
      this.reached();
      return false;
    }
    this.taken += amount;
    return true;
  }

  /** Acquires one item regardless of the limit, for room that is about to become free. */
  exceed(): void {
    this.taken += 1;
  }

  release(amount = 1): void {
    this.taken -= amount;
  }
}

/** A quota per key. */
export class KeyedQuota {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly taken = new Map<string, number>();

  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  take(key: string): boolean {
    const taken = this.taken.get(key) ?? 0;
    if (taken >= this.limit) {
      this.reached();
      return false;
    }
    this.taken.set(key, taken + 1);
    return true;
  }

  release(key: string): void {
    const taken = this.taken.get(key) ?? 0;
    if (taken > 1) this.taken.set(key, taken - 1);
    else this.taken.delete(key);
  }
}

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
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** `reached` is called each time there is no room: for any client (`all`), or for this one (`share`). */
  constructor(limit: number, reached: (limit: 'all' | 'share') => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get used(): number {
    return this.total;
  }

  /** Acquires the whole amount or nothing; `false` if there is no room for this client. */
  take(client: string, amount = 1): boolean {
    if (!this.hasRoom(client, amount)) return false;
    this.taken.set(client, (this.taken.get(client) ?? 0) + amount);
    this.total += amount;
    return true;
  }

  /** Whether there is room for this amount for this client. */
  hasRoom(client: string, amount: number): boolean {
    // Checks the last item of the amount, which requires the most room.
    const others = amount - 1;
    const left = this.limit - this.total - others;
    if (mayHaveMore((this.taken.get(client) ?? 0) + others, left)) return true;
    this.reached(left > 0 ? 'share' : 'all');
    return false;
  }

  release(client: string, amount = 1): void {
    const taken = this.taken.get(client) ?? 0;
    if (taken > amount) this.taken.set(client, taken - amount);
    else this.taken.delete(client);
    this.total -= amount;
  }
}

/** The quotas shared by all connections and requests of a data plane. */
export interface Quotas {
  readonly connections: Quota;
  /** By address. */
  readonly clients: KeyedQuota;
  readonly requests: SharedQuota;
  readonly waiting: SharedQuota;
  readonly tunnels: SharedQuota;
  readonly mirrors: SharedQuota;
  readonly retries: SharedQuota;
  /** Bytes held until requests are authorized. */
  readonly authorization: SharedQuota;
  /** Buffered bytes in the data plane that wait for slow readers; see `Buffered`. */
  readonly buffered: SharedQuota;
  /** Records that a limit was reached which is tracked elsewhere. */
  readonly reached: (limit: Limit) => void;
}

/** Creates the quotas of a data plane. `counters` records how often each limit was reached, and the number of buffered bytes. */
export function createQuotas(limits: ProxyLimits, counters: Pick<ProxyCounters, 'limitsReached' | 'buffered'>): Quotas {
  const reached = (limit: Limit): void => {
    counters.limitsReached[limit] += 1;
  };
  const quota = (amount: number, limit: Limit): SharedQuota =>
    new SharedQuota(amount, (which) => reached(which === 'all' ? limit : 'client-share'));
  const buffered = new SharedQuota(limits.bufferedBytes, () => reached('buffered'));
  counters.buffered = buffered;
  return {
    connections: new Quota(limits.connections, () => reached('connections')),
    clients: new KeyedQuota(limits.connectionsPerClient, () => reached('client-connections')),
    requests: quota(limits.requests, 'requests'),
    waiting: quota(limits.waiting, 'waiting'),
    tunnels: quota(limits.tunnels, 'tunnels'),
    mirrors: quota(limits.mirrors, 'mirrors'),
    retries: quota(limits.retries, 'retries'),
    authorization: quota(limits.authorizationBytes, 'authorization-bytes'),
    buffered,
    reached,
  };
}
