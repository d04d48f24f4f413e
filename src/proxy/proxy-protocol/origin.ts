import type { Socket } from 'node:net';
import { plainPeer } from '../sockets/address.ts';
import type { Address } from '../sockets/address.ts';

/** The two ends of a client's connection: those of the connection to this port, or those in its PROXY header. */
export interface Origin {
  readonly client: Address;
  /** The address to which the client connected. */
  readonly destination: Address;
}

const headerOrigins = new WeakMap<Socket, Origin>();

/** Records the origin in the PROXY header of a connection. */
export function noteOrigin(socket: Socket, origin: Origin): void {
  headerOrigins.set(socket, origin);
}

/** Returns the origin in the PROXY header of a connection; `undefined` if there was none. */
export function headerOrigin(socket: Socket): Origin | undefined {
  return headerOrigins.get(socket);
}

/** Returns the origin of a connection that a port has accepted. For TLS, pass the socket below it. */
export function originOf(socket: Socket): Origin {
  return (
    headerOrigins.get(socket) ?? {
      client: { host: clientHostOf(socket), port: socket.remotePort ?? 0 },
      destination: { host: plainPeer(socket.localAddress), port: socket.localPort ?? 0 },
    }
  );
}

/** Returns the address of the client of a connection, as in its origin. Nothing else of the origin is looked up. */
export function clientHostOf(socket: Socket): string {
  return headerOrigins.get(socket)?.client.host ?? plainPeer(socket.remoteAddress);
}
