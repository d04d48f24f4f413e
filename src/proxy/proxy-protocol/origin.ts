import type { Socket } from 'node:net';
import { plainPeer } from '../address.ts';
import type { Address } from '../address.ts';

/** The two ends of a client's connection: those of the connection to this port, or those that a PROXY header tells. */
export interface Origin {
  readonly client: Address;
  /** The address to which the client connected. */
  readonly destination: Address;
}

const told = new WeakMap<Socket, Origin>();

/** Notes the origin that a PROXY header tells of a connection. */
export function noteOrigin(socket: Socket, origin: Origin): void {
  told.set(socket, origin);
}

/** The origin that a PROXY header has told of a connection; `undefined` where there was none. */
export function toldOrigin(socket: Socket): Origin | undefined {
  return told.get(socket);
}

/** The origin of a connection that a port has accepted; of TLS it is asked of the socket below. */
export function originOf(socket: Socket): Origin {
  return told.get(socket) ?? {
    client: { host: plainPeer(socket.remoteAddress), port: socket.remotePort ?? 0 },
    destination: { host: plainPeer(socket.localAddress), port: socket.localPort ?? 0 },
  };
}
