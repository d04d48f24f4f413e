import type { Socket } from 'node:net';
import type { Forwarder, ResponseReceiver, Upstream, UpstreamExchange, UpstreamRequest } from './forwarder.ts';

/** The connections to one upstream. */
export interface UpstreamPool {
  /** Takes over a connection that stands. */
  adopt(socket: Socket): void;
  /** Takes no more requests, and closes when those that it has are done. */
  release(): void;
  /** Ends everything at once. */
  destroy(): void;
}

/** Forwards over connections that are kept for each upstream, and created with the first request to it. */
export abstract class PooledForwarder<P extends UpstreamPool> implements Forwarder {
  private readonly pools = new Map<Upstream, P>();
  private readonly createPool: (upstream: Upstream) => P;

  constructor(createPool: (upstream: Upstream) => P) {
    this.createPool = createPool;
  }

  abstract forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange;

  /** Takes over a connection that stands and was negotiated to speak this version of HTTP. */
  adopt(upstream: Upstream, socket: Socket): void {
    this.pool(upstream).adopt(socket);
  }

  release(upstream: Upstream): void {
    this.pools.get(upstream)?.release();
    this.pools.delete(upstream);
  }

  close(): Promise<void> {
    for (const pool of this.pools.values()) pool.destroy();
    this.pools.clear();
    return Promise.resolve();
  }

  protected pool(upstream: Upstream): P {
    let pool = this.pools.get(upstream);
    if (pool === undefined) {
      pool = this.createPool(upstream);
      this.pools.set(upstream, pool);
    }
    return pool;
  }
}
