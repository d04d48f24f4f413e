import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';

/**
 * TLS handshakes in progress. Beyond the limit the oldest one ends. Handshakes of legitimate clients take milliseconds, so they are not
 * the oldest for long.
 */
export class Handshakes extends HandshakeTurns {
  private readonly limit: number;
  private readonly reached: () => void;

  /** Calls `reached` when a handshake ends because of the limit. */
  constructor(limit: number, reached: () => void) {
    super();
    this.limit = limit;
    this.reached = reached;
  }

  override begun(socket: Socket): void {
    const oldest = this.size < this.limit ? undefined : this.oldest;
    if (oldest !== undefined) {
      this.reached();
      this.done(oldest);
      oldest.destroy();
    }
    super.begun(socket);
  }
}
