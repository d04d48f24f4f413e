import type { Limit } from '../counters.ts';
import { ExpiringSet } from '../limits/expiring-set.ts';
import type { Aging } from '../limits/expiring-set.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { LocalTally, type Tally } from '../../fairness/tally.ts';
import type { Layer4Reason } from './reasons.ts';

const ownedPlace = Symbol('owned');

/** The view of a flow that its order needs. It is renewed with each datagram. */
export interface OrderedFlow extends Aging {
  /** The client's address, whose share of the flows it uses. */
  readonly owner: string;
  /** Ends the flow, in order if there is no reason. */
  end(reason?: Layer4Reason): void;
}

/** Limits of the flows of a data plane. */
export interface FlowLimits {
  readonly udpIdleTimeout: number;
  readonly udpFlows: number;
  readonly udpFlowsPerClient: number;
}

/**
 * All flows of a data plane in order of their last activity. Ends flows after the idle timeout. At a limit it ends the
 * flow that has been idle longest: first of the same client, then of all. Each operation takes constant time.
 */
export class FlowOrder {
  private readonly limits: FlowLimits;
  private readonly reached: (limit: Limit) => void;
  private readonly all: ExpiringSet<OrderedFlow>;
  private readonly owned = new Map<string, LinkedSet<OrderedFlow>>();
  /** The flows by owner, including those of other threads. */
  private readonly tally: Tally;

  /** `reached` is called each time a flow is evicted for another one. */
  constructor(limits: FlowLimits, reached: (limit: Limit) => void, tally: Tally = new LocalTally()) {
    this.limits = limits;
    this.reached = reached;
    this.tally = tally;
    this.all = new ExpiringSet(limits.udpIdleTimeout, (flows) => {
      for (const flow of flows) {
        this.removed(flow);
        flow.end();
      }
    });
  }

  get size(): number {
    return this.all.size;
  }

  /** Adds a new, active flow. */
  add(flow: OrderedFlow): void {
    const { limits, tally } = this;
    if (tally.of(flow.owner) >= limits.udpFlowsPerClient)
      this.evict(this.owned.get(flow.owner)?.first, 'udp-client-flows');
    if (tally.total >= limits.udpFlows) this.evict(this.all.first, 'udp-flows');
    tally.add(flow.owner, 1);
    this.all.add(flow);
    this.own(flow);
  }

  /** Records activity of a flow. */
  touch(flow: OrderedFlow): void {
    if (this.all.renew(flow)) this.owned.get(flow.owner)?.renew(flow);
  }

  /** Removes an ended flow. Has no effect if it is not found. */
  remove(flow: OrderedFlow): void {
    if (this.all.delete(flow)) this.removed(flow);
  }

  private removed(flow: OrderedFlow): void {
    this.tally.add(flow.owner, -1);
    this.disown(flow);
  }

  private own(flow: OrderedFlow): void {
    const owned = this.owned.get(flow.owner) ?? new LinkedSet<OrderedFlow>(ownedPlace);
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
