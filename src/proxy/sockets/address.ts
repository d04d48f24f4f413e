/** The address of a listener. With port 0 the system chooses one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** All addresses of this machine, in both families. */
export const anyAddress = '::';

/** Returns `host:port`, with IPv6 in brackets. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const mappedIpv4 = '::ffff:';

/** Formats a peer's address for headers and logs. IPv4-mapped IPv6 addresses become plain IPv4. */
export function plainPeer(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  return address.startsWith(mappedIpv4) && address.includes('.') ? address.slice(mappedIpv4.length) : address;
}
