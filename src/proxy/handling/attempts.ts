import type { ConfigKey } from '../../core/routing/config.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { ClientSession } from '../sessions/sessions.ts';
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
  /** Prefers the endpoint that the client is assigned to. */
  readonly session?: ClientSession | undefined;
}

/**
 * The endpoints in a round. Each try compares endpoints with those tried before, and neither `retry.attempts` nor the endpoints of a backend
 * are limited to a number that this is cheap for.
 */
const mostTried = 64;

/**
 * The tries of one request at the endpoints of a backend, and the pauses between them (HTTPRouteRetry), within the retry budget of
 * the backend (RetryConstraint). `start` of the starter begins a try: it calls `next`.
 */
export class Attempts {
  private readonly exchange: Pick<ForwardedRequest, 'plane' | 'address' | 'guard'>;
  private readonly terms: Terms;
  private readonly starter: { start(): void };
  private endpoints: EndpointSet;
  /** Endpoints tried in the current round; it is cleared after all have been tried, or as many as are remembered. */
  private tried: Endpoint[] = [];
  private count = 0;
  /** Whether the next try needs a connection that no other request has used. */
  needsNewConnection = false;
  /** The tries since the last pause. */
  private triesInRow = 0;
  private pause: Timer | undefined;

  constructor(
    exchange: Pick<ForwardedRequest, 'plane' | 'address' | 'guard'>,
    terms: Terms,
    starter: { start(): void },
  ) {
    this.exchange = exchange;
    this.terms = terms;
    this.starter = starter;
    this.endpoints = terms.endpoints;
  }

  /** Returns the endpoint for a try; `undefined` if all were tried. */
  next(): Endpoint | undefined {
    const { endpoints, tried } = this;
    const now = this.exchange.plane.now();
    const endpoint = this.terms.session?.endpointIn(endpoints, tried, now) ?? endpoints.pick(tried, now);
    if (endpoint === undefined) return undefined;
    if (this.count === 0) endpoints.budget?.addRequest(now);
    this.count += 1;
    this.triesInRow += 1;
    this.tried.push(endpoint);
    return endpoint;
  }

  /** Whether another try is allowed. */
  get mayRepeat(): boolean {
    return this.count < (this.terms.retry?.tries ?? this.exchange.plane.limits.attempts);
  }

  /** Whether `tryLater` is allowed, which requires a retry policy. */
  get mayRepeatLater(): boolean {
    return this.terms.retry !== undefined && this.mayRepeat;
  }

  /** Whether a response with this status is tried again later. */
  mayRepeatAfter(status: number): boolean {
    return this.terms.retry?.codes.has(status) === true && this.mayRepeat;
  }

  /**
   * The connection of the last try failed, not its endpoint, which may be tried again at once. A server that closes its connections after
   * each response may have closed more of them, so further tries use new ones.
   */
  connectionWasStale(): void {
    this.tried.pop();
    this.needsNewConnection = true;
  }

  /**
   * Tries another endpoint immediately after a failed connection. With a retry policy, the next try follows after a pause if no endpoint
   * is left, or after as many tries in a row as a request without a policy has. Returns the reason if no try follows: `failure` if no
   * endpoint is left.
   */
  tryAnother(failure: AnswerReason): AnswerReason | undefined {
    this.renewEndpoints();
    const mayGoOn = this.triesInRow < this.exchange.plane.limits.attempts;
    const others = mayGoOn && this.endpoints.all().some((endpoint) => !this.tried.includes(endpoint));
    if (!others) return this.terms.retry === undefined ? failure : this.tryLater();
    if (!this.takeFromBudget()) return 'retry-budget-exceeded';
    this.starter.start();
    return undefined;
  }

  /** Begins another try after the pause of the retry policy. Returns the reason if no try follows. */
  tryLater(): AnswerReason | undefined {
    const { retry } = this.terms;
    const { plane, address } = this.exchange;
    if (!plane.quotas.retries.take(address)) return 'backend-busy';
    if (!this.takeFromBudget()) {
      plane.quotas.retries.release(address);
      return 'retry-budget-exceeded';
    }
    this.pause = new Timer(retry?.delayAfter(this.count) ?? 0, () => this.exchange.guard(() => this.tryAgain()));
    return undefined;
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
    this.triesInRow = 0;
    const isOver =
      this.tried.length >= mostTried || this.endpoints.all().every((endpoint) => this.tried.includes(endpoint));
    if (isOver) this.tried = [];
    this.starter.start();
  }

  private takeFromBudget(): boolean {
    const { budget } = this.endpoints;
    return budget === undefined || budget.takeRetry(this.exchange.plane.now());
  }

  /** Failed endpoints may have been replaced meanwhile. */
  private renewEndpoints(): void {
    const { key } = this.terms;
    this.endpoints = (key === undefined ? undefined : this.exchange.plane.endpoints.get(key)) ?? this.endpoints;
  }
}
