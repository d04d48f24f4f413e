import { ofQualifiedName } from '../core/resources/reference.ts';
import { SharedBudget, type Sharer } from '../core/text/shared-budget.ts';
import { SharedSlice } from '../time/slices.ts';
import { WorkTurns } from './work-turns.ts';

export interface ShareLimits {
  /** Concurrent connections of one Gateway. */
  readonly perGateway: number;
  /** Concurrent connections of all Gateways. */
  readonly authenticated: number;
  /** Bytes of messages from the proxies of one Gateway that are incomplete or wait to be processed, and of those of all Gateways. */
  readonly received: number;
  readonly allReceived: number;
  /** Bytes that may be queued for all proxies of one Gateway, and for those of all Gateways. */
  readonly queued: number;
  readonly allQueued: number;
}

/** What the connections of one Gateway share. */
export interface GatewayShare {
  readonly received: Budgets;
  readonly queued: Budgets;
  /** The work for the messages of the proxies of its namespace. */
  readonly work: WorkTurns;
  /** Ends one connection's use. */
  leave(): void;
}

/** Budgets that count the same sharers. */
class Budgets {
  private readonly budgets: readonly SharedBudget[];

  constructor(...budgets: readonly SharedBudget[]) {
    this.budgets = budgets;
  }

  /** Counts what one holds, after it may have become more. May end this one or others. */
  count(sharer: Sharer): void {
    for (const budget of this.budgets) budget.count(sharer);
  }

  /** Stops counting one that has ended. */
  remove(sharer: Sharer): void {
    for (const budget of this.budgets) budget.remove(sharer);
  }
}

interface Shared extends Pick<GatewayShare, 'received' | 'queued'> {
  connections: number;
}

/** What the Gateways of one namespace share. */
interface Neighbors extends Pick<GatewayShare, 'work'> {
  /** Functions that end their connections, the oldest first. */
  readonly ends: Set<() => void>;
}

/**
 * The limits for each Gateway: whoever has the token of one data plane can take only from the share of its own Gateway. Whoever has many
 * Gateways in a namespace takes from its share of the limits for all Gateways.
 */
export class GatewayShares {
  private readonly limits: ShareLimits;
  private readonly shares = new Map<string, Shared>();
  private readonly received: SharedBudget;
  private readonly queued: SharedBudget;
  private readonly namespaces = new Map<string, Neighbors>();
  /** Of the work for messages in each turn of the event loop. */
  private readonly slice = new SharedSlice();
  private total = 0;

  constructor(limits: ShareLimits) {
    this.limits = limits;
    this.received = new SharedBudget(limits.allReceived);
    this.queued = new SharedBudget(limits.allQueued);
  }

  /**
   * Adds a connection, which `end` ends. If there are too many of all Gateways, it takes the place of one of the namespace with most.
   *
   * @returns `undefined` if the Gateway has as many as it may have, or its namespace has most
   */
  enter(gateway: string, end: () => void): GatewayShare | undefined {
    const { namespace } = ofQualifiedName(gateway);
    const known = this.shares.get(gateway);
    if ((known?.connections ?? 0) >= this.limits.perGateway || !this.hasRoom(namespace)) return undefined;
    const shared = known ?? this.begin(gateway);
    const neighbors = this.namespaces.get(namespace) ?? { ends: new Set(), work: new WorkTurns(this.slice) };
    this.namespaces.set(namespace, neighbors);
    neighbors.ends.add(end);
    shared.connections += 1;
    this.total += 1;
    const { received, queued } = shared;
    return {
      received,
      queued,
      work: neighbors.work,
      leave: () => {
        shared.connections -= 1;
        if (shared.connections === 0) this.shares.delete(gateway);
        this.forget(namespace, end);
      },
    };
  }

  private hasRoom(namespace: string): boolean {
    if (this.total < this.limits.authenticated) return true;
    const [greediest, { ends }] = [...this.namespaces].reduce((one, other) =>
      other[1].ends.size > one[1].ends.size ? other : one,
    );
    const [newest] = [...ends].slice(-1);
    if (newest === undefined || ends.size <= (this.namespaces.get(namespace)?.ends.size ?? 0) + 1) return false;
    this.forget(greediest, newest);
    newest();
    return true;
  }

  /** Does nothing for a connection that is forgotten already. */
  private forget(namespace: string, end: () => void): void {
    const ends = this.namespaces.get(namespace)?.ends;
    if (ends?.delete(end) !== true) return;
    this.total -= 1;
    if (ends.size === 0) this.namespaces.delete(namespace);
  }

  private begin(gateway: string): Shared {
    const { received, queued } = this.limits;
    const shared: Shared = {
      received: new Budgets(new SharedBudget(received), this.received),
      queued: new Budgets(new SharedBudget(queued), this.queued),
      connections: 0,
    };
    this.shares.set(gateway, shared);
    return shared;
  }
}
