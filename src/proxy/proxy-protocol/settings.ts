import { contains, parseIpAddress } from '../../core/text/ip-address.ts';
import type { AddressRange } from '../../core/text/ip-address.ts';
import type { ProxyVersion, ProxyVersions } from '../../core/text/proxy-protocol.ts';

/** Where a data plane speaks the PROXY protocol; without it, nowhere. */
export interface ProxyProtocolSettings {
  /** Connections from there must begin with a header. */
  readonly accept?: readonly AddressRange[];
  /** The backends of TCPRoutes and TLSRoutes get headers. */
  readonly send?: ProxyVersions;
}

/** Whether connections from an address must begin with a PROXY header. Connections from elsewhere must not: what looks like one is data. */
export function expectsHeader({ accept = [] }: ProxyProtocolSettings, address: string): boolean {
  if (accept.length === 0) return false;
  const number = parseIpAddress(address);
  return number !== undefined && accept.some((range) => contains(range, number));
}

/** The version in which backends are told the clients of a listener's port. */
export function versionFor({ send }: ProxyProtocolSettings, port: number): ProxyVersion | undefined {
  return send?.byPort.get(port) ?? send?.all;
}
