import type { Socket } from 'node:net';
import { FirstFlights } from './first-flights.ts';
import { LaterFlights } from './later-flights.ts';

/** The turns of TLS handshakes, from the complete first flight of a client to the end of the handshake. */
export class HandshakeTurns {
  private readonly first = new FirstFlights();
  private readonly later = new LaterFlights();

  /** Calls `process` when it is the connection's turn, and never if it closes before. Its further flights are read in turns. */
  take(socket: Socket, process: () => void): void {
    this.first.take(socket, () => {
      process();
      this.later.add(socket);
    });
  }

  /** The handshake of a connection is complete; `decrypted` is this connection or the TLS socket above it. */
  done(decrypted: Socket): void {
    this.later.done(decrypted);
  }
}
