import type { Server, Socket } from 'node:net';
import type { Cell } from '../telemetry/index.ts';

export interface ConnectionLimits {
  /** All connections together, including those in a TLS handshake. */
  readonly connections: number;
  /** Connections per client address, so that no other pod keeps the API server out. */
  readonly connectionsPerAddress: number;
}

/** Closes connections beyond the limits immediately, and counts them in `refused`. */
export function limitConnections(server: Server, limits: ConnectionLimits, refused: Cell): void {
  server.maxConnections = limits.connections;
  server.on('drop', () => (refused.value += 1));
  const byAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const open = (byAddress.get(address) ?? 0) + 1;
    if (open > limits.connectionsPerAddress) {
      refused.value += 1;
      socket.destroy();
      return;
    }
    byAddress.set(address, open);
    socket.once('close', () => {
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left === 0) byAddress.delete(address);
      else byAddress.set(address, left);
    });
  });
}
