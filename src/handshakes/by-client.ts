import type { Socket } from 'node:net';

/** Connections by the address of their client, and the client with most of them. All operations take constant time. */
export class ByClient {
  /** The oldest connection of a client is the first. */
  private readonly sockets = new Map<string, Set<Socket>>();
  /** Clients by the number of their connections. The last set is not empty. */
  private readonly ranks: Set<string>[] = [];

  /** Adds a connection that was not added before. */
  add(socket: Socket, client: string): void {
    const sockets = this.sockets.get(client) ?? new Set();
    this.sockets.set(client, sockets.add(socket));
    this.ranks[sockets.size - 1]?.delete(client);
    (this.ranks[sockets.size] ??= new Set()).add(client);
  }

  /** Removes a connection that was added for this client. */
  delete(socket: Socket, client: string): void {
    const sockets = this.sockets.get(client);
    if (sockets === undefined) return;
    this.ranks[sockets.size]?.delete(client);
    sockets.delete(socket);
    if (sockets.size === 0) this.sockets.delete(client);
    else this.ranks[sockets.size]?.add(client);
    while (this.ranks.at(-1)?.size === 0) this.ranks.pop();
  }

  /** The oldest connection of the client with most connections. */
  get oldestOfBusiest(): Socket | undefined {
    const [client = ''] = this.ranks.at(-1) ?? [];
    const [oldest] = this.sockets.get(client) ?? [];
    return oldest;
  }
}
