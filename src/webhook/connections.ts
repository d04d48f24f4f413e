import type { Server, Socket } from 'node:net';
import type { Cell } from '../telemetry/index.ts';

export interface ConnectionLimits {
  /** All connections together, including those in a TLS handshake. */
  readonly connections: number;
  /** Connections per client address, so that no other pod keeps the API server out. */
  readonly connectionsPerAddress: number;
}

/**
 * Closes connections beyond the limits, and counts them in `refused`. Client addresses have equal shares of all connections: while all are
 * in use, a new one replaces the oldest one of the address with the most, so that a few addresses cannot keep the API server out either.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, refused: Cell): void {
  const byAddress = new Map<string, Set<Socket>>();
  let count = 0;
  const remove = (address: string, socket: Socket): void => {
    const open = byAddress.get(address);
    if (open?.delete(socket) !== true) return;
    count -= 1;
    if (open.size === 0) byAddress.delete(address);
  };
  /** Closes a connection of the address with the most, unless an address with `size` connections would have as many after one more. */
  const makeRoom = (size: number): boolean => {
    let most = { address: '', open: new Set<Socket>() };
    for (const [address, open] of byAddress) if (open.size > most.open.size) most = { address, open };
    const [oldest] = most.open;
    if (oldest === undefined || most.open.size <= size + 1) return false;
    refused.value += 1;
    remove(most.address, oldest);
    oldest.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const open = byAddress.get(address) ?? new Set();
    const isBeyond = open.size >= limits.connectionsPerAddress;
    if (isBeyond || (count >= limits.connections && !makeRoom(open.size))) {
      refused.value += 1;
      socket.destroy();
      return;
    }
    byAddress.set(address, open.add(socket));
    count += 1;
    socket.once('close', () => remove(address, socket));
  });
}
