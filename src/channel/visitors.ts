import type { Socket } from 'node:net';
import type { ServerHttp2Session } from 'node:http2';
import { SharedQuota } from '../fairness/shared-quota.ts';

export interface VisitorLimits {
  /** Unauthenticated connections; a new one closes the oldest of the client address with most of them. */
  readonly pending: number;
  /** Concurrent token reviews, since each of them is a request to the API server. Client addresses share them. */
  readonly reviews: number;
}

/**
 * Tracks connections and limits the resources of unauthenticated ones. Whoever reaches the port can open connections, so each client address
 * can use up only its own share.
 */
export class Visitors {
  private readonly limits: VisitorLimits;
  private readonly sockets = new Set<Socket>();
  /** By client address, in order of arrival. */
  private readonly pending = new Map<string, Set<Socket>>();
  private waiting = 0;
  private readonly reviews: SharedQuota;

  constructor(limits: VisitorLimits) {
    this.limits = limits;
    this.reviews = new SharedQuota(limits.reviews, () => undefined);
  }

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    this.sockets.add(socket);
    this.pending.set(address, (this.pending.get(address) ?? new Set()).add(socket));
    this.waiting += 1;
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.remove(address, socket);
    });
    if (this.waiting > this.limits.pending) this.makeRoom();
  }

  authenticated({ socket: secure }: ServerHttp2Session): void {
    const address = secure.remoteAddress ?? '';
    // The TLS socket of a session is a layer above its connection and has the same ports.
    for (const socket of this.pending.get(address) ?? [])
      if (socket.remotePort === secure.remotePort) this.remove(address, socket);
  }

  /** Reviews a token of a client, or returns `busy` if there are as many concurrent reviews as there may be, or as this client may have. */
  async review(address: string, review: () => Promise<boolean>): Promise<boolean | 'busy'> {
    if (!this.reviews.take(address)) return 'busy';
    try {
      return await review();
    } finally {
      this.reviews.release(address);
    }
  }

  counts(): { readonly open: number; readonly authenticated: number } {
    return { open: this.sockets.size, authenticated: this.sockets.size - this.waiting };
  }

  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Closes the oldest connection of the address with most: it has had the longest time to authenticate. */
  private makeRoom(): void {
    const [address, waiting] = this.pending
      .entries()
      .reduce((most, next) => (next[1].size > most[1].size ? next : most));
    const [oldest] = waiting;
    if (oldest === undefined) return;
    this.remove(address, oldest);
    this.sockets.delete(oldest);
    oldest.destroy();
  }

  private remove(address: string, socket: Socket): void {
    const waiting = this.pending.get(address);
    if (waiting?.delete(socket) !== true) return;
    this.waiting -= 1;
    if (waiting.size === 0) this.pending.delete(address);
  }
}
