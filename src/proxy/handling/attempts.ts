import type { ConfigKey } from '../../core/routing/config.ts';
import { Timer } from '../sockets/timer.ts';
import type { Endpoint, EndpointSet } from '../upstream/endpoints.ts';
import type { ForwardedRequest } from './forwarded-request.ts';
import type { RetryPolicy } from './retry.ts';

/** The endpoints of a request, and how often they may be tried. */
interface Terms {
  readonly key: ConfigKey | undefined;
  readonly endpoints: EndpointSet;
  /** `undefined`: only other endpoints are tried, within the limit of the proxy. */
  readonly retry: RetryPolicy | undefined;
}

/**
 * The tries of one request at the endpoints of a backend, and the pauses between them (HTTPRouteRetry). `start` begins a try: it
 * calls `next`.
 */
export class Attempts {
  private readonly exchange: Pick<ForwardedRequest, 'plane' | 'address' | 'guard'>;
  private readonly terms: Terms;
  private readonly start: () => void;
  private endpoints: EndpointSet;
  /** Endpoints tried in the current round; it is cleared after all have been tried. */
  private tried: Endpoint[] = [];
  private count = 0;
  private pause: Timer | undefined;

  constructor(exchange: Pick<ForwardedRequest, 'plane' | 'address' | 'guard'>, terms: Terms, start: () => void) {
    this.exchange = exchange;
    this.terms = terms;
    this.start = start;
    this.endpoints = terms.endpoints;
  }

  /** Returns the endpoint for a try; `undefined` if all were tried. */
  next(): Endpoint | undefined {
    const endpoint = this.endpoints.pick(this.tried, performance.now());
    if (endpoint === undefined) return undefined;
    this.count += 1;
    this.tried.push(endpoint);
    return endpoint;
  }

  /** Whether another try is allowed. */
  get mayRepeat(): boolean {
    return this.count < (this.terms.retry?.tries ?? this.exchange.plane.limits.attempts);
  }

  /** Whether a response with this status is tried again. */
  mayRepeatAfter(status: number): boolean {
    return this.terms.retry?.codes.has(status) === true && this.mayRepeat;
  }

  /** The last endpoint may be tried again at once: its connection failed, not the endpoint. */
  forgetLast(): void {
    this.tried.pop();
  }

  /**
   * Tries another endpoint immediately after a failed connection. Tried endpoints are used again only if a retry policy allows
   * it. Returns whether a try follows.
   */
  tryAnother(): boolean {
    this.renewEndpoints();
    const others = this.endpoints.all().some((endpoint) => !this.tried.includes(endpoint));
    if (!others) return this.tryLater();
    this.start();
    return true;
  }

  /** Begins another try after a pause. Returns `false` without a retry policy, or if too many requests wait for a retry. */
  tryLater(): boolean {
    const { retry } = this.terms;
    const { plane, address } = this.exchange;
    if (retry === undefined || !plane.quotas.retries.take(address)) return false;
    this.pause = new Timer(retry.delayAfter(this.count), () => this.exchange.guard(() => this.tryAgain()));
    return true;
  }

  /** Cancels a pending try. */
  end(): void {
    if (this.pause === undefined) return;
    this.pause.cancel();
    this.pause = undefined;
    this.exchange.plane.quotas.retries.release(this.exchange.address);
  }

  private tryAgain(): void {
    this.end();
    this.renewEndpoints();
    if (this.endpoints.all().every((endpoint) => this.tried.includes(endpoint))) this.tried = [];
    this.start();
  }

  /** Failed endpoints may have been replaced meanwhile. */
  private renewEndpoints(): void {
    const { key } = this.terms;
    this.endpoints = (key === undefined ? undefined : this.exchange.plane.endpoints.get(key)) ?? this.endpoints;
  }
}
