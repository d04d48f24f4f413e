import type { Socket } from 'node:net';
import { ByClient } from './by-client.ts';

/**
 * The limit of TLS handshakes in progress on all ports. OpenSSL keeps messages of up to 128 KiB for each of them, which no other limit counts.
 * Beyond the limit, the oldest one of the client with most of them ends. Handshakes of legitimate clients take milliseconds, so they are not
 * the oldest for long.
 */
export class HandshakeLimit {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly clients = new Map<Socket, string>();
  private readonly byClient: ByClient;

  /** Calls `reached` when a handshake ends because of the limit. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
    this.byClient = new ByClient(limit + 1);
  }

  /** Adds the handshake of a connection of a client, which has this address. */
  begun(socket: Socket, client: string): void {
    this.clients.set(socket, client);
    this.byClient.add(socket, client);
    const oldest = this.clients.size > this.limit ? this.byClient.oldestOfBusiest : undefined;
    if (oldest === undefined) return;
    this.reached();
    this.done(oldest);
    oldest.destroy();
  }

  /** The handshake is complete, it failed, or the connection is closed. */
  done(socket: Socket): void {
    const client = this.clients.get(socket);
    if (client === undefined) return;
    this.clients.delete(socket);
    this.byClient.delete(socket, client);
  }
}
