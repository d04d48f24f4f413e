import type { Socket } from 'node:net';
import { TurnOrder } from '../limits/turn-order.ts';

/** Connections by the address of their client, and the client with most of them. All operations take constant time. */
export class ByClient {
  /** The oldest connection of a client is the first. */
  private readonly sockets = new Map<string, Set<Socket>>();
  /** Clients by the number of connections that they may still have: those with most come first. */
  private readonly clients = new TurnOrder<string>();
  private readonly limit: number;

  /** @param limit for the connections of all clients together */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds a connection that was not added before. */
  add(socket: Socket, client: string): void {
    const sockets = this.sockets.get(client) ?? new Set();
    this.clients.delete(client, this.limit - sockets.size);
    this.sockets.set(client, sockets.add(socket));
    this.clients.add(client, this.limit - sockets.size);
  }

  /** Removes a connection that was added for this client. */
  delete(socket: Socket, client: string): void {
    const sockets = this.sockets.get(client);
    if (sockets === undefined) return;
    this.clients.delete(client, this.limit - sockets.size);
    sockets.delete(socket);
    if (sockets.size === 0) this.sockets.delete(client);
    else this.clients.add(client, this.limit - sockets.size);
  }

  /** The oldest connection of the client with most connections. */
  get oldestOfBusiest(): Socket | undefined {
    const [oldest] = this.sockets.get(this.clients.first ?? '') ?? [];
    return oldest;
  }
}
