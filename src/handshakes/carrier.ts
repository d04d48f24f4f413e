import type { Socket } from 'node:net';

/**
 * Returns which of some connections carries a TLS socket of a server, or is itself this socket. Node does not document the property
 * with the connection. Without it, the connection is the one with the same peer.
 */
export function carrierOf(decrypted: Socket, connections: Connections): Socket | undefined {
  if (connections.has(decrypted)) return decrypted;
  const { _parent: parent } = decrypted as { readonly _parent?: unknown };
  if (parent !== undefined && parent !== null)
    return connections.has(parent as Socket) ? (parent as Socket) : undefined;
  for (const connection of connections.keys()) if (hasSamePeer(connection, decrypted)) return connection;
  return undefined;
}

/** A set of connections, or a map with connections as its keys. */
export interface Connections {
  has(connection: Socket): boolean;
  keys(): Iterable<Socket>;
}

function hasSamePeer(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}
