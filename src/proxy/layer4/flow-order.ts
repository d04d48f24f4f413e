import type { Limit } from '../counters.ts';
import { LinkedSet } from '../linked-set.ts';
import type { Layer4Reason } from './reasons.ts';

/** A flow as far as its place among all flows is concerned. */
export interface OrderedFlow {
  /** Whose share of the flows it takes: the client's address. */
  readonly owner: string;
  /** When the last datagram came or went, by `performance.now()`. */
  lastActive: number;
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
  private readonly all = new LinkedSet<OrderedFlow>();
  private readonly owned = new Map<string, LinkedSet<OrderedFlow>>();
  private timer: NodeJS.Timeout | undefined;

  /** `reached` is told each time that a flow ends because another one needs its room. */
  constructor(limits: FlowLimits, reached: (limit: Limit) => void) {
    this.limits = limits;
    this.reached = reached;
  }

  get size(): number {
    return this.all.size;
  }

  /** Adds a flow that has just become active. */
  add(flow: OrderedFlow): void {
    const owned = this.owned.get(flow.owner);
    if ((owned?.size ?? 0) >= this.limits.udpFlowsPerClient) this.evict(owned?.first, 'udp-client-flows');
    if (this.all.size >= this.limits.udpFlows) this.evict(this.all.first, 'udp-flows');
    this.append(flow);
    this.timer ??= this.watch(this.limits.udpIdleTimeout);
  }

  /** Notes that a datagram came or went. */
  touch(flow: OrderedFlow): void {
    if (!this.all.delete(flow)) return;
    this.owned.get(flow.owner)?.delete(flow);
    this.append(flow);
  }

  /** Takes a flow out that has ended; nothing happens where it is not in. */
  remove(flow: OrderedFlow): void {
    if (!this.all.delete(flow)) return;
    const owned = this.owned.get(flow.owner);
    owned?.delete(flow);
    if (owned?.size === 0) this.owned.delete(flow.owner);
    if (this.all.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private append(flow: OrderedFlow): void {
    flow.lastActive = performance.now();
    this.all.add(flow);
    const owned = this.owned.get(flow.owner) ?? new LinkedSet<OrderedFlow>();
    this.owned.set(flow.owner, owned);
    owned.add(flow);
  }

  private evict(flow: OrderedFlow | undefined, limit: Limit): void {
    if (flow === undefined) return;
    this.reached(limit);
    this.remove(flow);
    flow.end('evicted');
  }

  private watch(delay: number): NodeJS.Timeout {
    return setTimeout(() => this.expire(), delay).unref();
  }

  private expire(): void {
    this.timer = undefined;
    const now = performance.now();
    const isOverdue = (flow: OrderedFlow): boolean => flow.lastActive + this.limits.udpIdleTimeout <= now;
    for (let flow = this.all.first; flow !== undefined && isOverdue(flow); flow = this.all.first) {
      this.remove(flow);
      flow.end();
    }
    const next = this.all.first;
    if (next !== undefined) this.timer ??= this.watch(Math.max(1, Math.ceil(next.lastActive + this.limits.udpIdleTimeout - now)));
  }
}
