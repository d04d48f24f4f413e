import { maxHops } from '../../core/text/via.ts';
import { formatAddress, plainPeer } from '../address.ts';
import type { Address } from '../address.ts';
import { ExpiringSet } from '../expiring-set.ts';
import type { Aging } from '../expiring-set.ts';

/** One pass of a connection or flow through this data plane. */
export interface Pass {
  /** The pass that opened the connection or flow of this one; `undefined` for those from elsewhere. */
  cameFrom: Pass | undefined;
  /** Called once if it has passed too often: its route leads back to the data plane. */
  readonly looped: () => void;
}

/** Passes that are over and not forgotten yet; beyond it the oldest ones are forgotten. */
const mostLeft = 16_384;

/** A pass that is over. */
interface Left extends Aging {
  readonly pass: Pass;
  readonly addresses: ReadonlySet<string>;
}

/**
 * Finds connections, or flows of UDP, that a data plane opens to itself. A route whose backend is its own listener would otherwise
 * open connections until a limit is reached. Both ends of such a connection are in this process, so the address from which it arrives
 * is the address from which it was opened. As many passes are allowed as for requests.
 */
export class OwnConnections {
  private readonly opened = new Map<string, Pass>();
  private readonly arrived = new Map<string, Pass>();

  /** By pass: the addresses under which it is noted in the two maps. */
  private readonly addresses = new Map<Pass, Set<string>>();
  /** Those that are over and not forgotten yet. */
  private readonly left: ExpiringSet<Left>;

  /** Passes are forgotten so many milliseconds after their end, by when everything that they sent has arrived. */
  constructor(memory: number) {
    this.left = new ExpiringSet(memory, (passes) => {
      for (const pass of passes) this.forget(pass);
    });
  }

  /** Notes a connection that has arrived from this address. */
  arrive(from: Address, pass: Pass): void {
    const address = keyOf(from);
    this.note(this.arrived, address, pass);
    link(this.opened.get(address), pass);
  }

  /** Notes a connection that a pass has opened, by its own address. */
  open(local: Address, pass: Pass): void {
    const address = keyOf(local);
    this.note(this.opened, address, pass);
    link(pass, this.arrived.get(address));
  }

  /** Notes that a pass is over, or that its connections have been closed. */
  leave(pass: Pass): void {
    const addresses = this.addresses.get(pass);
    if (addresses === undefined) return;
    this.addresses.delete(pass);
    const oldest = this.left.size < mostLeft ? undefined : this.left.first;
    if (oldest !== undefined) {
      this.left.delete(oldest);
      this.forget(oldest);
    }
    this.left.add({ pass, addresses, renewedAt: 0 });
  }

  private forget({ pass, addresses }: Left): void {
    // Those that the pass has again since then stay.
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

function keyOf({ host, port }: Address): string {
  return formatAddress(plainPeer(host), port);
}
