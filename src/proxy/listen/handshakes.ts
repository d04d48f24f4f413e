import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import type { HandshakeLimit } from '../limits/handshake-limit.ts';
import type { CertificateCount } from './certificate-count.ts';

/** The TLS handshakes in progress on one port, within the limit of all ports. */
export class Handshakes extends HandshakeTurns {
  private readonly limit: HandshakeLimit;
  private readonly count: CertificateCount;

  /** `clientOf` returns the address of the client of a connection. */
  constructor(limit: HandshakeLimit, count: CertificateCount, clientOf: (socket: Socket) => string) {
    super(clientOf);
    this.limit = limit;
    this.count = count;
  }

  override begun(socket: Socket): string {
    const client = super.begun(socket);
    this.limit.begun(socket, client);
    return client;
  }

  /** The handshake of a connection that was asked for a certificate has so many bytes. */
  presented(socket: Socket, bytes: number): void {
    this.count.note(socket, bytes);
  }

  protected override wasRead(socket: Socket): void {
    this.presented(socket, socket.bytesRead);
  }

  protected override forget(socket: Socket): string | undefined {
    this.limit.done(socket);
    return super.forget(socket);
  }
}
