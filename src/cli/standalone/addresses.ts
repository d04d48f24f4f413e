import { createServer } from 'node:net';

/** Where a listener is really bound in standalone mode. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** What the assignment needs to know of a listener. */
export interface Placed {
  /** `namespace/name`. */
  readonly gateway: string;
  readonly port: number;
}

/** Ports below 1024 want privileges that a development tool should not have; they move up by this, visibly. */
export const privilegedPortOffset = 8000;

/** Steps to look for another port where one is taken by another listener port of the same address. */
const collisionStep = 1000;

/**
 * Gives every Gateway an address of its own on this machine, `127.0.1.n`, so that two Gateways may use one port as
 * they may in a cluster. Where the system has only one loopback address, Gateways are told apart by port.
 * Assignments last as long as the process.
 */
export class StandaloneAddresses {
  private readonly manyHosts: boolean;
  private readonly gateways = new Map<string, number>();
  private readonly assigned = new Map<string, BoundAddress>();
  private readonly taken = new Set<string>();

  constructor(manyHosts: boolean) {
    this.manyHosts = manyHosts;
  }

  /** The address of a Gateway's port: the same answer for the same question. */
  addressOf({ gateway, port }: Placed): BoundAddress {
    const key = `${gateway} ${port}`;
    const known = this.assigned.get(key);
    if (known !== undefined) return known;
    const number = this.numberOf(gateway);
    const host = this.manyHosts ? `127.0.1.${number}` : '127.0.0.1';
    let bound = port < 1024 ? port + privilegedPortOffset : port;
    while (this.taken.has(`${host}:${bound}`)) bound = bound + collisionStep > 65_535 ? 1024 + (bound % collisionStep) : bound + collisionStep;
    const address = { host, port: bound };
    this.taken.add(`${host}:${bound}`);
    this.assigned.set(key, address);
    return address;
  }

  private numberOf(gateway: string): number {
    const number = this.gateways.get(gateway) ?? (this.gateways.size % 254) + 1;
    this.gateways.set(gateway, number);
    return number;
  }
}

/** Whether this machine has all of 127.0.0.0/8 on its loopback interface, as Linux has and macOS has not. */
export async function hasManyLoopbackHosts(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.1.1', port: 0 }, () => probe.close(() => resolve(true)));
  });
}
