import type { Socket } from 'node:net';
import { carrierOf } from '../../handshakes/carrier.ts';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import { LinkedSet } from '../limits/linked-set.ts';

/**
 * TLS handshakes in progress. Beyond the limit the oldest one ends. Handshakes of legitimate clients take milliseconds, so they are not
 * the oldest for long.
 */
export class Handshakes {
  private readonly sockets = new LinkedSet<Socket>();
  private readonly turns = new HandshakeTurns();
  private readonly limit: number;
  private readonly reached: () => void;

  /** Calls `reached` when a handshake ends because of the limit. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get size(): number {
    return this.sockets.size;
  }

  begun(socket: Socket): void {
    const oldest = this.sockets.size < this.limit ? undefined : this.sockets.first;
    if (oldest !== undefined) {
      this.reached();
      this.sockets.delete(oldest);
      oldest.destroy();
    }
    this.sockets.add(socket);
    socket.once('close', () => this.forget(socket));
  }

  /** Processes the complete first flight of a connection, and reads the further ones, in turns with all others. */
  take(socket: Socket, process: () => void): void {
    this.turns.take(socket, process);
  }

  /** Ends tracking of the handshake. Returns the connection, which is `decrypted` or the socket below it; `undefined` if it has ended. */
  done(decrypted: Socket): Socket | undefined {
    const below = carrierOf(decrypted, this.sockets);
    if (below !== undefined) this.forget(below);
    return below;
  }

  private forget(socket: Socket): void {
    this.sockets.delete(socket);
    this.turns.done(socket);
  }
}
