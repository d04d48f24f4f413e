import type { Socket } from 'node:net';
import process from 'node:process';
import { FirstFlights } from './first-flights.ts';
import { LaterFlights } from './later-flights.ts';

/** The turns of TLS handshakes, from the complete first flight of a client to the end of the handshake. */
export class HandshakeTurns {
  private readonly first = new FirstFlights();
  private readonly later = new LaterFlights();

  /** Calls `begin` when it is the connection's turn, and never if it closes before. Its further flights are read in turns. */
  take(socket: Socket, begin: () => void): void {
    this.first.take(socket, () => {
      begin();
      // Node passes the first flight to TLS in a tick that was requested before.
      process.nextTick(this.answered, socket);
    });
  }

  private readonly answered = (socket: Socket): void => this.later.add(socket);

  /** The handshake of a connection is complete, it failed, or the connection is closed. */
  done(socket: Socket): void {
    this.later.done(socket);
  }
}
