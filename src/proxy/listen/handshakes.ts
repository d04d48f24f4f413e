import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import type { HandshakeLimit } from '../limits/handshake-limit.ts';

/** The TLS handshakes in progress on one port, within the limit of all ports. */
export class Handshakes extends HandshakeTurns {
  private readonly limit: HandshakeLimit;

  /** `clientOf` returns the address of the client of a connection. */
  constructor(limit: HandshakeLimit, clientOf: (socket: Socket) => string) {
    super(clientOf);
    this.limit = limit;
  }

  override begun(socket: Socket): string {
    const client = super.begun(socket);
    this.limit.begun(socket, client);
    return client;
  }

  protected override forget(socket: Socket): string | undefined {
    this.limit.done(socket);
    return super.forget(socket);
  }
}
