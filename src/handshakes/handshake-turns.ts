import type { Socket } from 'node:net';
import process from 'node:process';
import { carrierOf } from './carrier.ts';
import { FirstFlights } from './first-flights.ts';
import { LaterFlights } from './later-flights.ts';

/** The TLS handshakes of a server that are in progress. Their flights are processed in turns, so that no burst of them blocks the event loop. */
export class HandshakeTurns {
  /** The oldest one first. */
  private readonly sockets = new Set<Socket>();
  private readonly first = new FirstFlights();
  private readonly later = new LaterFlights();

  get size(): number {
    return this.sockets.size;
  }

  /** The connection whose handshake began first. */
  get oldest(): Socket | undefined {
    return this.sockets.values().next().value;
  }

  /** Tracks the handshake of a connection until `done`, or until it is closed. */
  begun(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.forget(socket));
  }

  /** Calls `begin` when it is the connection's turn, and never if it closes before. Its further flights are read in turns. */
  take(socket: Socket, begin: () => void): void {
    this.first.take(socket, () => {
      begin();
      // Node passes the first flight to TLS in a tick that was requested before.
      process.nextTick(this.answered, socket);
    });
  }

  /**
   * The handshake of a connection is complete, or failed. Returns the connection, which is `decrypted` or the socket below it;
   * `undefined` if it is not tracked.
   */
  done(decrypted: Socket): Socket | undefined {
    const socket = carrierOf(decrypted, this.sockets);
    if (socket !== undefined) this.forget(socket);
    return socket;
  }

  private forget(socket: Socket): void {
    if (this.sockets.delete(socket)) this.later.done(socket);
  }

  private readonly answered = (socket: Socket): void => this.later.add(socket);
}
