import { SharedQuota } from '../../fairness/shared-quota.ts';
import { LocalTally, type Tally, type TallySource } from '../../fairness/tally.ts';
import type { Limit, ProxyCounters } from '../counters.ts';
import { HandshakeLimit } from './handshake-limit.ts';
import { FormerContexts, maxFormerBytes } from './former-contexts.ts';
import type { ProxyLimits } from './limits.ts';

/** A quota per key. */
export class KeyedQuota {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly taken: Tally;

  constructor(limit: number, reached: () => void, taken: Tally = new LocalTally()) {
    this.limit = limit;
    this.reached = reached;
    this.taken = taken;
  }

  take(key: string): boolean {
    if (this.taken.of(key) >= this.limit) {
      this.reached();
      return false;
    }
    this.taken.add(key, 1);
    return true;
  }

  release(key: string): void {
    this.taken.add(key, -1);
  }
}

/** The quotas shared by all connections and requests of a data plane. */
export interface Quotas {
  readonly connections: SharedQuota;
  /** Connections by address. */
  readonly clients: KeyedQuota;
  /** TLS handshakes of clients. */
  readonly handshakes: HandshakeLimit;
  readonly requests: SharedQuota;
  readonly waiting: SharedQuota;
  readonly tunnels: SharedQuota;
  readonly mirrors: SharedQuota;
  readonly retries: SharedQuota;
  /** Bytes held until requests are authorized. */
  readonly authorization: SharedQuota;
  /** Buffered bytes in the data plane that wait for slow readers; see `Buffered`. */
  readonly buffered: SharedQuota;
  /** TLS contexts that were replaced under open connections. */
  readonly contexts: FormerContexts;
  /** Records that a limit was reached which is tracked elsewhere. */
  readonly reached: (limit: Limit) => void;
}

/**
 * Creates the quotas of a data plane. `counters` records how often each limit was reached, and the number of buffered bytes. `tally`
 * creates the counts of what is held, by the name of the quota.
 */
export function createQuotas(
  limits: ProxyLimits,
  counters: Pick<ProxyCounters, 'limitsReached' | 'buffered'>,
  tally: TallySource = () => new LocalTally(),
): Quotas {
  const reached = (limit: Limit): void => {
    counters.limitsReached[limit] += 1;
  };
  const quota = (amount: number, limit: Limit): SharedQuota =>
    new SharedQuota(amount, (which) => reached(which === 'all' ? limit : 'client-share'), tally(limit));
  const buffered = new SharedQuota(limits.bufferedBytes, () => reached('buffered'), tally('buffered'));
  counters.buffered = buffered;
  return {
    connections: quota(limits.connections, 'connections'),
    clients: new KeyedQuota(
      limits.connectionsPerClient,
      () => reached('client-connections'),
      tally('client-connections'),
    ),
    handshakes: new HandshakeLimit(limits.handshakes, () => reached('tls-handshakes')),
    requests: quota(limits.requests, 'requests'),
    waiting: quota(limits.waiting, 'waiting'),
    tunnels: quota(limits.tunnels, 'tunnels'),
    mirrors: quota(limits.mirrors, 'mirrors'),
    retries: quota(limits.retries, 'retries'),
    authorization: quota(limits.authorizationBytes, 'authorization-bytes'),
    buffered,
    contexts: new FormerContexts(maxFormerBytes, () => reached('former-certificates')),
    reached,
  };
}

/** The limits that apply to all threads of a data plane together, by the names of their tallies. */
export const sharedQuotas: readonly Limit[] = [
  'connections',
  'client-connections',
  'requests',
  'waiting',
  'tunnels',
  'mirrors',
  'retries',
  'authorization-bytes',
  'buffered',
  'udp-flows',
];
