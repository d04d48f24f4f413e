import type { Limit } from '../counters.ts';
import { ExpiringSet } from '../expiring-set.ts';
import type { Aging } from '../expiring-set.ts';
import { LinkedSet } from '../linked-set.ts';
import type { Layer4Reason } from './reasons.ts';

/** A flow as far as its place among all flows is concerned. It is renewed with each datagram. */
export interface OrderedFlow extends Aging {
  /** Whose share of the flows it takes: the client's address. */
  readonly owner: string;
  /** Ends the flow. Without a reason it ends in order. */
  end(reason?: Layer4Reason): void;
}

/** Bounds of the flows of a data plane. */
export interface FlowLimits {
  readonly udpIdleTimeout: number;
  readonly udpFlows: number;
  readonly udpFlowsPerClient: number;
}

/**
 * All flows of a data plane in the order in which they were last active. It ends those that are silent for too long, and the one
 * that has been silent longest where a new one has no room: first of the same client, then of all. Each step costs the same for any
 * number of flows.
 */
export class FlowOrder {
  private readonly limits: FlowLimits;
  private readonly reached: (limit: Limit) => void;
  private readonly all: ExpiringSet<OrderedFlow>;
  private readonly owned = new Map<string, LinkedSet<OrderedFlow>>();

  /** `reached` is told each time that a flow ends because another one needs its room. */
  constructor(limits: FlowLimits, reached: (limit: Limit) => void) {
    this.limits = limits;
    this.reached = reached;
    this.all = new ExpiringSet(limits.udpIdleTimeout, (flows) => {
      for (const flow of flows) {
        this.disown(flow);
        flow.end();
      }
    });
  }

  get size(): number {
    return this.all.size;
  }

  /** Adds a flow that has just become active. */
  add(flow: OrderedFlow): void {
    const owned = this.owned.get(flow.owner);
    if ((owned?.size ?? 0) >= this.limits.udpFlowsPerClient) this.evict(owned?.first, 'udp-client-flows');
    if (this.all.size >= this.limits.udpFlows) this.evict(this.all.first, 'udp-flows');
    this.all.add(flow);
    this.own(flow);
  }

  /** Notes that a datagram came or went. */
  touch(flow: OrderedFlow): void {
    if (!this.all.renew(flow)) return;
    this.owned.get(flow.owner)?.delete(flow);
    this.own(flow);
  }

  /** Takes a flow out that has ended; nothing happens where it is not in. */
  remove(flow: OrderedFlow): void {
    if (this.all.delete(flow)) this.disown(flow);
  }

  private own(flow: OrderedFlow): void {
    const owned = this.owned.get(flow.owner) ?? new LinkedSet<OrderedFlow>();
    this.owned.set(flow.owner, owned);
    owned.add(flow);
  }

  private disown(flow: OrderedFlow): void {
    const owned = this.owned.get(flow.owner);
    owned?.delete(flow);
    if (owned?.size === 0) this.owned.delete(flow.owner);
  }

  private evict(flow: OrderedFlow | undefined, limit: Limit): void {
    if (flow === undefined) return;
    this.reached(limit);
    this.remove(flow);
    flow.end('evicted');
  }
}
