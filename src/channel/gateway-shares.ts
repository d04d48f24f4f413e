import { SharedBudget } from '../core/text/shared-budget.ts';
import { WorkTurns } from './work-turns.ts';

export interface ShareLimits {
  /** Concurrent connections of one Gateway. */
  readonly perGateway: number;
  /** Bytes of messages from the proxies of one Gateway that are incomplete or wait to be processed. */
  readonly received: number;
  /** Bytes that may be queued for all proxies of one Gateway. */
  readonly queued: number;
}

/** What the connections of one Gateway share. */
export interface GatewayShare {
  readonly received: SharedBudget;
  readonly queued: SharedBudget;
  /** The work for the messages of its proxies. */
  readonly work: WorkTurns;
  /** Ends one connection's use. */
  leave(): void;
}

interface Shared extends Omit<GatewayShare, 'leave'> {
  connections: number;
}

/** The limits for each Gateway: whoever has the token of one data plane can take only from the share of its own Gateway. */
export class GatewayShares {
  private readonly limits: ShareLimits;
  private readonly shares = new Map<string, Shared>();

  constructor(limits: ShareLimits) {
    this.limits = limits;
  }

  /** Adds a connection. `undefined` if the Gateway has as many as it may have. */
  enter(gateway: string): GatewayShare | undefined {
    const shared = this.shares.get(gateway) ?? this.begin(gateway);
    if (shared.connections >= this.limits.perGateway) return undefined;
    shared.connections += 1;
    const { received, queued, work } = shared;
    return {
      received,
      queued,
      work,
      leave: () => {
        shared.connections -= 1;
        if (shared.connections === 0) this.shares.delete(gateway);
      },
    };
  }

  private begin(gateway: string): Shared {
    const { received, queued } = this.limits;
    const shared: Shared = {
      received: new SharedBudget(received),
      queued: new SharedBudget(queued),
      work: new WorkTurns(),
      connections: 0,
    };
    this.shares.set(gateway, shared);
    return shared;
  }
}
