import type {
  Forwarder,
  ResponseReceiver,
  Upstream,
  UpstreamExchange,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import { Http2Forwarder } from './http2-forwarder.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { Negotiation } from './negotiation.ts';
import type { Engines } from './negotiation.ts';
import { Http1Forwarder } from './http1-forwarder.ts';
import type { Quotas } from '../limits/quota.ts';

/** Whether a request may be sent over HTTP/2, which keeps its content, and whose backends may refuse it. */
export function mayUseHttp2({ upstream, needsHttp2 }: Pick<UpstreamRequest, 'upstream' | 'needsHttp2'>): boolean {
  const { protocol, tls } = upstream;
  return needsHttp2 === true || tls !== undefined || protocol === 'h2c' || protocol === 'h2';
}

/** Forwards over the HTTP version of a backend, as configured, or as negotiated by TLS (RFC 7301). */
export class ProtocolForwarder implements Forwarder, Engines {
  private readonly limits: ProxyLimits;
  private readonly quotas: Quotas;
  readonly http1: Http1Forwarder;
  readonly http2: Http2Forwarder;
  private readonly negotiations = new Map<Upstream, Negotiation>();
  private readonly released = new WeakSet<Upstream>();

  /** `fault` receives unexpected errors. */
  constructor(limits: ProxyLimits, fault: (error: unknown) => void, quotas: Quotas) {
    this.limits = limits;
    this.quotas = quotas;
    this.http1 = new Http1Forwarder(limits, fault, quotas);
    this.http2 = new Http2Forwarder(limits, fault, quotas);
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const { upstream } = request;
    const exchange = this.begin(request, receiver);
    // A request that chose its endpoint before a change, or tries again after it, must not leave a connection that nobody closes.
    if (this.released.has(upstream)) this.release(upstream);
    return exchange;
  }

  private begin(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const { upstream } = request;
    const { tls, protocol } = upstream;
    if (tls !== undefined && protocol === undefined) return this.negotiation(upstream).forward(request, receiver);
    const engine = protocol === 'h2c' || protocol === 'h2' || request.needsHttp2 === true ? this.http2 : this.http1;
    return engine.forward(request, receiver);
  }

  /** Closes the connections of an upstream after their requests. A request that still comes gets a connection of its own. */
  release(upstream: Upstream): void {
    this.released.add(upstream);
    this.negotiations.get(upstream)?.release();
    this.negotiations.delete(upstream);
    this.http1.release(upstream);
    this.http2.release(upstream);
    this.quotas.contexts.leave(upstream);
  }

  async close(): Promise<void> {
    await Promise.all([this.http1.close(), this.http2.close()]);
  }

  private negotiation(upstream: Upstream): Negotiation {
    const known = this.negotiations.get(upstream) ?? new Negotiation(upstream, this, this.limits, this.quotas);
    this.negotiations.set(upstream, known);
    return known;
  }
}
