import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import { peerOf } from '../../handshakes/peer.ts';
import { LinkedSet } from '../limits/linked-set.ts';

/**
 * TLS handshakes in progress, by the client's address and port. Beyond the limit the oldest one ends. Handshakes of
 * legitimate clients take milliseconds, so they are not the oldest for long.
 */
export class Handshakes {
  private readonly order = new LinkedSet<string>();
  private readonly sockets = new Map<string, Socket>();
  private readonly turns = new HandshakeTurns();
  private readonly limit: number;
  private readonly reached: () => void;

  /** Calls `reached` when a handshake ends because of the limit. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  get size(): number {
    return this.order.size;
  }

  begun(socket: Socket): void {
    const key = peerOf(socket);
    const oldest = this.order.size < this.limit ? undefined : this.order.first;
    if (oldest !== undefined) {
      this.reached();
      this.sockets.get(oldest)?.destroy();
      this.forget(oldest);
    }
    this.order.delete(key);
    this.order.add(key);
    this.sockets.set(key, socket);
    socket.once('close', () => {
      if (this.sockets.get(key) === socket) this.forget(key);
    });
  }

  /** Processes the complete first flight of a connection, and reads the further ones, in turns with all others. */
  take(socket: Socket, process: () => void): void {
    this.turns.take(socket, process);
  }

  /** Ends tracking of the handshake, and returns the socket below `decrypted`, which has the same peer. */
  done(decrypted: Socket): Socket | undefined {
    const key = peerOf(decrypted);
    const below = this.sockets.get(key);
    this.forget(key);
    this.turns.done(decrypted);
    return below;
  }

  private forget(key: string): void {
    this.order.delete(key);
    this.sockets.delete(key);
  }
}
