import type { Socket } from 'node:net';
import { LinkedSet } from './linked-set.ts';
import { TurnOrder } from './turn-order.ts';

const socketPlace = Symbol('by client');

interface Client {
  readonly address: string;
  /** The oldest connection is the first. */
  readonly sockets: LinkedSet<Socket>;
}

/** Connections by the address of their client, and the client with most of them. All operations take constant time. */
export class ByClient {
  private readonly byAddress = new Map<string, Client>();
  /** Clients by the number of connections that they may still have: those with most come first. */
  private readonly clients = new TurnOrder<Client>();
  private readonly limit: number;

  /** @param limit for the connections of all clients together */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds a connection that was not added before. */
  add(socket: Socket, address: string): void {
    const client = this.byAddress.get(address) ?? { address, sockets: new LinkedSet(socketPlace) };
    this.clients.delete(client, this.limit - client.sockets.size);
    this.byAddress.set(address, client);
    client.sockets.add(socket);
    this.clients.add(client, this.limit - client.sockets.size);
  }

  /** Removes a connection that was added for this client. */
  delete(socket: Socket, address: string): void {
    const client = this.byAddress.get(address);
    if (client === undefined) return;
    this.clients.delete(client, this.limit - client.sockets.size);
    client.sockets.delete(socket);
    if (client.sockets.size === 0) this.byAddress.delete(address);
    else this.clients.add(client, this.limit - client.sockets.size);
  }

  /** The oldest connection of the client with most connections. */
  get oldestOfBusiest(): Socket | undefined {
    return this.clients.first?.sockets.first;
  }
}
