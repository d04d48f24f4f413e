import type { Socket } from 'node:net';

/** Returns the client's address and port. A connection and the TLS socket above it have the same. */
export function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
