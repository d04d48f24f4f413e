import type { Socket } from 'node:net';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import { ByClient } from './by-client.ts';

/**
 * TLS handshakes in progress. Beyond the limit, the oldest one of the client with most of them ends. Handshakes of legitimate clients take
 * milliseconds, so they are not the oldest for long.
 */
export class Handshakes extends HandshakeTurns {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly byClient: ByClient;

  /** Calls `reached` when a handshake ends because of the limit. `clientOf` returns the address of the client of a connection. */
  constructor(limit: number, reached: () => void, clientOf: (socket: Socket) => string) {
    super(clientOf);
    this.limit = limit;
    this.byClient = new ByClient(limit + 1);
    this.reached = reached;
  }

  override begun(socket: Socket): string {
    const client = super.begun(socket);
    this.byClient.add(socket, client);
    const oldest = this.size > this.limit ? this.byClient.oldestOfBusiest : undefined;
    if (oldest !== undefined) {
      this.reached();
      this.forget(oldest);
      oldest.destroy();
    }
    return client;
  }

  protected override forget(socket: Socket): string | undefined {
    const client = super.forget(socket);
    if (client !== undefined) this.byClient.delete(socket, client);
    return client;
  }
}
