import type { Socket } from 'node:net';
import type {
  Forwarder,
  ResponseReceiver,
  Upstream,
  UpstreamExchange,
  UpstreamRequest,
} from '../messages/forwarder.ts';

/** The connections to one upstream. */
export interface UpstreamPool {
  /** Takes over an established connection. */
  adopt(socket: Socket): void;
  /** Takes no more requests, and closes after the current ones. */
  release(): void;
  /** Ends all requests and connections immediately. */
  destroy(): void;
}

/** Forwards over a pool of connections per upstream, created with the first request to it. */
export abstract class PooledForwarder<P extends UpstreamPool> implements Forwarder {
  private readonly pools = new Map<Upstream, P>();
  private readonly createPool: (upstream: Upstream) => P;

  constructor(createPool: (upstream: Upstream) => P) {
    this.createPool = createPool;
  }

  abstract forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange;

  /** Takes over an established connection that has negotiated this version of HTTP. */
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
