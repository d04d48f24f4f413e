import { maxHops } from '../../core/text/via.ts';
import { formatAddress, plainPeer } from '../sockets/address.ts';
import type { Address } from '../sockets/address.ts';
import { ExpiringSet } from '../limits/expiring-set.ts';
import type { Aging } from '../limits/expiring-set.ts';

/** One pass of a connection or flow through this data plane. */
export interface Pass {
  /** The pass that opened this connection or flow; `undefined` if it comes from elsewhere. */
  cameFrom: Pass | undefined;
  /** Called once if it has passed too often, i.e. its route leads back to the data plane. */
  readonly looped: () => void;
}

/** The ends of a connection or flow. */
export interface Ends {
  readonly from: Address;
  /** `undefined` for a flow: a UDP port of this machine belongs to one socket. The system gives one TCP port to connections to different addresses. */
  readonly to: Address | undefined;
}

/** Records which connections or flows a data plane opens and receives, to find those that lead back to it. */
export interface Passes {
  /** Records a connection that has arrived. */
  arrive(ends: Ends, pass: Pass): void;
  /** Records a connection that a pass has opened to the host `peer`. */
  open(ends: Ends, pass: Pass, peer: string): void;
  /** Records that a pass has ended, or that its connections have been closed. */
  leave(pass: Pass): void;
}

/** Maximum number of ended passes that are remembered; beyond it the oldest ones are forgotten. */
const maxLeft = 16_384;

/** An ended pass. */
interface Left extends Aging {
  readonly pass: Pass;
  readonly addresses: ReadonlySet<string>;
}

/**
 * Detects connections and UDP flows that a data plane opens to itself. Otherwise a route with its own listener as its
 * backend would open connections up to a limit. Both ends of such a connection are in this process, so it arrives
 * with the addresses with which it was opened. The allowed number of passes is the same as for requests.
 */
export class OwnConnections implements Passes {
  private readonly opened = new Map<string, Pass>();
  private readonly arrived = new Map<string, Pass>();

  /** The addresses of each pass in the two maps. */
  private readonly addresses = new Map<Pass, Set<string>>();
  /** Ended passes that are still remembered. */
  private readonly left: ExpiringSet<Left>;

  /** `memory`: milliseconds for which ended passes are remembered, until everything that they sent has arrived. */
  constructor(memory: number) {
    this.left = new ExpiringSet(memory, (passes) => {
      for (const pass of passes) this.forget(pass);
    });
  }

  arrive(ends: Ends, pass: Pass): void {
    const key = keyOf(ends);
    this.note(this.arrived, key, pass);
    link(this.opened.get(key), pass);
  }

  open(ends: Ends, pass: Pass): void {
    const key = keyOf(ends);
    this.note(this.opened, key, pass);
    link(pass, this.arrived.get(key));
  }

  leave(pass: Pass): void {
    const addresses = this.addresses.get(pass);
    if (addresses === undefined) return;
    this.addresses.delete(pass);
    const oldest = this.left.size < maxLeft ? undefined : this.left.first;
    if (oldest !== undefined) {
      this.left.delete(oldest);
      this.forget(oldest);
    }
    this.left.add({ pass, addresses, renewedAt: 0 });
  }

  private forget({ pass, addresses }: Left): void {
    // Keeps addresses that the pass has acquired again since then.
    const current = this.addresses.get(pass);
    for (const address of addresses) {
      if (current?.has(address) === true) continue;
      for (const passes of [this.opened, this.arrived]) if (passes.get(address) === pass) passes.delete(address);
    }
  }

  private note(passes: Map<string, Pass>, address: string, pass: Pass): void {
    passes.set(address, pass);
    this.addresses.set(pass, (this.addresses.get(pass) ?? new Set()).add(address));
  }
}

function link(from: Pass | undefined, to: Pass | undefined): void {
  if (from === undefined || to === undefined) return;
  to.cameFrom = from;
  let passes = 1;
  for (let pass: Pass | undefined = from; pass !== undefined && passes <= maxHops; pass = pass.cameFrom) passes += 1;
  if (passes > maxHops) to.looped();
}

function keyOf({ from, to }: Ends): string {
  return to === undefined ? textOf(from) : `${textOf(from)} ${textOf(to)}`;
}

function textOf({ host, port }: Address): string {
  return formatAddress(plainPeer(host), port);
}
