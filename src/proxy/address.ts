/** Where a listener is bound. Port 0 lets the system choose one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Any address of this machine, of both families. */
export const anyAddress = '::';

/** `host:port`, IPv6 in brackets. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const mappedIpv4 = '::ffff:';

/** A peer's address as it is written in headers and logs: IPv4 seen through an IPv6 socket as plain IPv4. */
export function plainPeer(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  return address.startsWith(mappedIpv4) && address.includes('.') ? address.slice(mappedIpv4.length) : address;
}
