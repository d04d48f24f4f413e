import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseIpAddress } from '../../core/text/ip-address.ts';
import type { Address } from '../../proxy/sockets/address.ts';

/** The properties of a listener that determine its address. */
export interface Placed {
  /** `namespace/name`. */
  readonly gateway: string;
  readonly port: number;
}

/** The addresses for Gateways. */
export interface Placement {
  /** An IP address of this machine, or `0.0.0.0` or `::` for all of them. Without it, each Gateway gets a loopback address. */
  readonly listen?: string;
  /** The IP addresses in spec.addresses of a Gateway. `none`: it must not be reachable here. */
  readonly requested: (gateway: string) => readonly string[] | 'none';
}

/** Offset of ports below 1024, which require privileges that a development tool should not have. */
export const privilegedPortOffset = 8000;

/** Offset to try next if a port is used by another listener port of the same address. */
const collisionStep = 1000;

/**
 * Decides where the listeners of each Gateway bind, in this order:
 *
 * 1. the addresses that the Gateway requests, with the port of the listener
 * 2. the common address (`listen`), with the port of the listener
 * 3. a loopback address per Gateway, `127.0.1.n`, so that two Gateways may use one port as in a cluster
 *
 * If the system has only one loopback address, Gateways differ by port. Assigned loopback addresses stay for the life of the process.
 */
export class StandaloneAddresses {
  private readonly manyHosts: boolean;
  private readonly placement: Placement;
  private readonly gateways = new Map<string, number>();
  private readonly assigned = new Map<string, Address>();
  private readonly taken = new Set<string>();

  /** @param manyHosts see hasManyLoopbackHosts */
  constructor(manyHosts: boolean, placement: Placement) {
    this.manyHosts = manyHosts;
    this.placement = placement;
  }

  /** The addresses of a Gateway's port. Repeated calls return the same addresses. */
  addressesOf(placed: Placed): readonly Address[] {
    const { listen, requested } = this.placement;
    const hosts = requested(placed.gateway);
    if (hosts === 'none') return [];
    if (hosts.length > 0) return hosts.map((host) => ({ host, port: placed.port }));
    return [listen === undefined ? this.loopbackOf(placed) : { host: listen, port: placed.port }];
  }

  private loopbackOf({ gateway, port }: Placed): Address {
    const key = `${gateway} ${port}`;
    const known = this.assigned.get(key);
    if (known !== undefined) return known;
    const number = this.numberOf(gateway);
    const host = this.manyHosts ? `127.0.1.${number}` : '127.0.0.1';
    let bound = port < 1024 ? port + privilegedPortOffset : port;
    while (this.taken.has(`${host}:${bound}`))
      bound = bound + collisionStep > 65_535 ? 1024 + (bound % collisionStep) : bound + collisionStep;
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

/** Whether the loopback interface has all of 127.0.0.0/8, as on Linux, unlike macOS. */
export async function hasManyLoopbackHosts(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.1.1', port: 0 }, () => probe.close(() => resolve(true)));
  });
}

/**
 * The addresses at which clients reach a socket that is bound to `host`, for status.addresses: those of the machine for `0.0.0.0` and
 * `::`, none for an address that this machine does not have.
 */
export function reachableAt(host: string): readonly string[] {
  const address = parseIpAddress(host);
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  if (address !== anyIpv4 && address !== anyIpv6)
    return host.startsWith('127.') || own.some((entry) => parseIpAddress(entry.address) === address) ? [host] : [];
  const reachable = own.filter(
    (entry) => !entry.internal && !isLinkLocal(entry.address) && (address === anyIpv6 || entry.family === 'IPv4'),
  );
  return reachable.length > 0 ? reachable.map((entry) => entry.address) : ['127.0.0.1'];
}

const anyIpv4 = parseIpAddress('0.0.0.0');
const anyIpv6 = parseIpAddress('::');

/** A link-local address requires a zone, which status.addresses cannot express. */
function isLinkLocal(address: string): boolean {
  return address.startsWith('fe80:');
}
