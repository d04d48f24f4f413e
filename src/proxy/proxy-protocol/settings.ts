import { contains, parseIpAddress } from '../../core/text/ip-address.ts';
import type { AddressRange } from '../../core/text/ip-address.ts';
import type { ProxyVersion, ProxyVersions } from '../../core/text/proxy-protocol.ts';

/** The use of the PROXY protocol in a data plane; disabled by default. */
export interface ProxyProtocolSettings {
  /** Connections from these addresses must begin with a header. */
  readonly accept?: readonly AddressRange[];
  /** The backends of TCPRoutes and TLSRoutes get headers. */
  readonly send?: ProxyVersions;
}

/** Whether connections from an address must begin with a PROXY header. For others, bytes that look like a header are data. */
export function expectsHeader({ accept = [] }: ProxyProtocolSettings, address: string): boolean {
  if (accept.length === 0) return false;
  const number = parseIpAddress(address);
  return number !== undefined && accept.some((range) => contains(range, number));
}

/** Returns the version of the header for backends of a listener's port, if any. */
export function versionFor({ send }: ProxyProtocolSettings, port: number): ProxyVersion | undefined {
  return send?.byPort.get(port) ?? send?.all;
}
