import type { Socket } from 'node:net';
import process from 'node:process';
import { carrierOf } from './carrier.ts';
import { CertificateFlights, systemClock } from './certificate-flights.ts';
import { FirstFlights } from './first-flights.ts';
import { LaterFlights } from './later-flights.ts';

/** The TLS handshakes of a server that are in progress. Their flights are processed in turns, so that no burst of them blocks the event loop. */
export class HandshakeTurns {
  /** The addresses of their clients. The oldest one is the first. */
  private readonly clients = new Map<Socket, string>();
  private readonly clientOf: (socket: Socket) => string;
  private readonly first = new FirstFlights();
  private readonly later = new LaterFlights();
  private readonly certificates = new CertificateFlights(systemClock, (socket) => this.wasRead(socket));

  /** `clientOf` returns the address of the client of a connection. */
  constructor(clientOf = (socket: Socket): string => socket.remoteAddress ?? '') {
    this.clientOf = clientOf;
  }

  get size(): number {
    return this.clients.size;
  }

  /** Tracks the handshake of a connection until `done`, or until it is closed. Returns the address of its client. */
  begun(socket: Socket): string {
    const client = this.clientOf(socket);
    this.clients.set(socket, client);
    socket.once('close', () => this.forget(socket));
    return client;
  }

  /** Calls `begin` when it is the connection's turn, and never if it closes before. Its further flights are read in turns. */
  take(socket: Socket, begin: () => void): void {
    this.start(socket, begin, this.answered);
  }

  /** Like `take`, for a handshake that asks for a client certificate. */
  takeWithCertificate(socket: Socket, begin: () => void): void {
    this.start(socket, begin, this.asked);
  }

  /**
   * The handshake of a connection is complete, or failed. Returns the connection, which is `decrypted` or the socket below it;
   * `undefined` if it is not tracked.
   */
  done(decrypted: Socket): Socket | undefined {
    const socket = carrierOf(decrypted, this.clients);
    if (socket !== undefined) this.forget(socket);
    return socket;
  }

  private start(socket: Socket, begin: () => void, answered: (socket: Socket) => void): void {
    const start = (): void => {
      begin();
      // Node passes the first flight to TLS in a tick that was requested before.
      process.nextTick(answered, socket);
    };
    this.first.take({ socket, client: this.clients.get(socket) ?? '', process: start });
  }

  /** The handshake is no longer tracked. Returns the address of its client; `undefined` if it was not tracked. */
  protected forget(socket: Socket): string | undefined {
    const client = this.clients.get(socket);
    if (client === undefined) return undefined;
    this.clients.delete(socket);
    this.later.done(socket);
    this.certificates.done(socket);
    return client;
  }

  /** Called after the turns of a connection that was asked for a certificate, until its handshake is complete. */
  protected wasRead(_socket: Socket): void {
    // What they take is not limited here.
  }

  private readonly answered = (socket: Socket): void => this.later.add(socket);

  private readonly asked = (socket: Socket): void => {
    const client = this.clients.get(socket);
    if (client !== undefined) this.certificates.add(socket, client);
  };
}
