import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';

/**
 * TLS handshakes in progress. Beyond the limit, the oldest one of the client with most of them ends. Handshakes of legitimate clients take
 * milliseconds, so they are not the oldest for long.
 */
export class Handshakes extends HandshakeTurns {
  private readonly limit: number;
  private readonly reached: () => void;

  /** Calls `reached` when a handshake ends because of the limit. `clientOf` returns the address of the client of a connection. */
  constructor(limit: number, reached: () => void, clientOf: (socket: Socket) => string) {
    super(clientOf);
    this.limit = limit;
    this.reached = reached;
  }

  override begun(socket: Socket): void {
    super.begun(socket);
    if (this.size <= this.limit) return;
    const oldest = this.oldestOfBusiest;
    if (oldest === undefined) return;
    this.reached();
    this.done(oldest);
    oldest.destroy();
  }
}
