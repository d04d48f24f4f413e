import type { Limit, ProxyCounters } from './counters.ts';
import type { ProxyLimits } from './limits.ts';

/** How much of something there may be at the same time. */
export class Quota {
  private readonly limit: number;
  private readonly reached: () => void;
  private taken = 0;

  /** `reached` is told each time that there is no room. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get used(): number {
    return this.taken;
  }

  /** Takes room for one more (or for so many bytes); `false` where there is none. */
  take(amount = 1): boolean {
    if (this.taken + amount > this.limit) {
      this.reached();
      return false;
    }
    this.taken += amount;
    return true;
  }

  /** Takes room that somebody is about to leave. */
  exceed(): void {
    this.taken += 1;
  }

  release(amount = 1): void {
    this.taken -= amount;
  }
}

/** A quota for each key of those that hold something. */
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

/** A client that holds this many times what is left of something gets no more of it. */
const share = 7;

/**
 * Whether a client that holds so many of something may have one more, where so many are left. A client alone can have seven
 * eighths; two can have seven fifteenths each. There is always room for one that has none yet, and nobody has to count clients.
 */
export function mayHaveMore(held: number, left: number): boolean {
  return held < share * left;
}

/** A quota that clients share: one client alone cannot use it up. */
export class SharedQuota {
  private readonly limit: number;
  private readonly reached: (limit: 'all' | 'share') => void;
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** `reached` is told each time that there is no room, for anybody or for one client. */
  constructor(limit: number, reached: (limit: 'all' | 'share') => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get used(): number {
    return this.total;
  }

  /** Takes room for so much more, whole or not at all; `false` where there is none for this client. */
  take(client: string, amount = 1): boolean {
    if (!this.hasRoom(client, amount)) return false;
    this.taken.set(client, (this.taken.get(client) ?? 0) + amount);
    this.total += amount;
    return true;
  }

  /** Whether there is room for so much more of this client. */
  hasRoom(client: string, amount: number): boolean {
    // The last one of them is the one that needs it most.
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

/** What all connections and requests of a data plane share. */
export interface Quotas {
  readonly connections: Quota;
  /** By address. */
  readonly clients: KeyedQuota;
  readonly requests: SharedQuota;
  readonly waiting: SharedQuota;
  readonly tunnels: SharedQuota;
  readonly mirrors: SharedQuota;
  readonly retries: SharedQuota;
  /** Bytes that are held until requests are authorized. */
  readonly authorization: SharedQuota;
  /** Bytes that wait in the data plane because nobody takes them as fast as they come; see `Buffered`. */
  readonly buffered: SharedQuota;
  /** Tells that another limit was reached, of which each place keeps account by itself. */
  readonly reached: (limit: Limit) => void;
}

/** The quotas of a data plane; its counters say how often each was reached, and how many bytes wait. */
export function createQuotas(limits: ProxyLimits, counters: Pick<ProxyCounters, 'limitsReached' | 'buffered'>): Quotas {
  const reached = (limit: Limit): void => {
    counters.limitsReached[limit] += 1;
  };
  const quota = (amount: number, limit: Limit): SharedQuota => new SharedQuota(amount, (which) => reached(which === 'all' ? limit : 'client-share'));
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
