import type { IncomingMessage, ServerResponse } from 'node:http';
import { findKind } from '../core/schema/index.ts';
import type { Steps } from '../core/text/steps.ts';
import type { AdmissionRequest, AdmissionVerdict, Allowed } from '../core/admission/types.ts';
import type { Owner } from '../fairness/fair-queue.ts';
import type { AdmissionMetrics, Cell, Logger } from '../telemetry/index.ts';
import { Bodies, BodyRefusal, type Body, type BodyLimits } from './body.ts';
import { remainingBudget } from './budget.ts';
import { cleanName } from './limits.ts';
import type { Replies } from './replies.ts';
import { readReview, writeReview } from './review.ts';
import { SharedSlices, Turns } from './turns.ts';
import { monotonicNow } from '../time/clock.ts';
import type { Gate } from '../time/slices.ts';

export interface ValidationLimits extends BodyLimits {
  /** Reviews that are being received or decided. */
  readonly reviews: number;
  /** Reviews above 64 KiB that wait while another one is decided. */
  readonly largeReviews: number;
}

/** Decides a write in steps. Other reviews can run between steps. */
export type Decide = (request: AdmissionRequest) => Steps<AdmissionVerdict>;

/** A decision for each path that accepts reviews. */
export type Decisions = Readonly<Record<string, Decide>>;

interface Validating {
  readonly decisions: Decisions;
  /** Waits until the evaluation contains the events that have arrived; `undefined`: it does. */
  readonly catchUp?: (() => Promise<void> | undefined) | undefined;
  /** Resolves when no change is being applied to the evaluation; `undefined` if that is so. */
  readonly readable?: Gate | undefined;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
  readonly replies: Replies;
}

/** A review and its response. */
class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly decide: Decide;
  /** The address of the client. */
  readonly client: string;
  /** The client and the user who asks, as soon as the body has arrived. */
  owner: Owner = [];
  /** On the clock of `monotonicNow`. */
  readonly receivedAt = monotonicNow();
  /** Releases the bytes of the body. */
  releaseBody: () => void = doNothing;

  constructor(request: IncomingMessage, response: ServerResponse, decide: Decide) {
    this.request = request;
    this.response = response;
    this.decide = decide;
    this.client = request.socket.remoteAddress ?? '';
  }
}

/**
 * Serves `POST` for each path of a decision, on the requests of Node's server: a review costs less than Fastify takes to route and
 * answer it. All paths share the limits.
 */
export class Reviews {
  readonly paths: readonly string[];
  private readonly decisions: ReadonlyMap<string, Decide>;
  private readonly catchUp: Validating['catchUp'];
  private readonly log: Logger;
  private readonly metrics: AdmissionMetrics;
  private readonly replies: Replies;
  private readonly limits: ValidationLimits;
  private readonly bodies: Bodies;
  private readonly turns: Turns;
  private readonly slices: SharedSlices;
  private readonly held: { readonly bytes: Cell; readonly reviews: Cell };

  constructor({ decisions, catchUp, readable, log, metrics, replies }: Validating, limits: ValidationLimits) {
    this.paths = Object.keys(decisions);
    this.decisions = new Map(Object.entries(decisions));
    this.catchUp = catchUp;
    this.log = log;
    this.metrics = metrics;
    this.replies = replies;
    this.limits = limits;
    this.bodies = new Bodies(limits);
    this.slices = new SharedSlices(readable);
    this.turns = new Turns(limits.largeReviews);
    this.held = { bytes: metrics.held.at('bytes'), reviews: metrics.held.at('reviews') };
  }

  /** Serves a request if it is a `POST` to one of the paths. Returns whether it is. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'POST') return false;
    const { url = '' } = request;
    const end = url.indexOf('?');
    return this.takeAt(end === -1 ? url : url.slice(0, end), request, response);
  }

  /** Like `take`, for a `POST` to a path that may be written in another way in its URL. */
  takeAt(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const decide = this.decisions.get(path);
    if (decide === undefined) return false;
    const exchange = new Exchange(request, response, decide);
    this.serve(exchange).catch((error: unknown) => this.fail(exchange, error));
    return true;
  }

  private async serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const { inflight } = this.metrics;
    inflight.value += 1;
    // Also emitted when the client disconnects before the response.
    response.once('close', () => {
      inflight.value -= 1;
      exchange.releaseBody();
      this.observe();
    });
    if (inflight.value > this.limits.reviews) return this.replies.refuse(response, 'busy');
    if (!isJson(request)) return this.replies.fail(response, 'content-type');
    const body = await this.receive(exchange);
    if (!body.isLarge) return this.decide(exchange, body);
    // A parsed large review takes several times its bytes, so they run one at a time.
    const turn = this.turns.enter(exchange.owner);
    this.observe();
    if (!(await turn)) return this.replies.refuse(response, 'busy');
    try {
      await this.decide(exchange, body);
    } finally {
      this.turns.leave();
      this.observe();
    }
  }

  private async decide(exchange: Exchange, body: Body): Promise<void> {
    const caughtUp = this.catchUp?.();
    if (caughtUp !== undefined) await caughtUp;
    await this.slices.run(this.answer(exchange, body), exchange.owner);
  }

  private async receive(exchange: Exchange): Promise<Body> {
    try {
      const { body, user, release } = await this.bodies.receive(exchange.request, exchange.client);
      exchange.releaseBody = release;
      exchange.owner = [exchange.client, user];
      // The response is closed already, so its listener will not release the body.
      if (exchange.request.socket.destroyed) release();
      return body;
    } finally {
      // An incomplete body is released after its connection has closed.
      this.observe();
    }
  }

  private observe(): void {
    this.held.bytes.value = this.bodies.held;
    this.held.reviews.value = this.turns.waiting;
  }

  private *answer({ request, response, decide, receivedAt }: Exchange, body: Body): Steps<void> {
    // The client may have disconnected while the review waited.
    if (response.destroyed) return;
    const budget = remainingBudget(timeoutIn(request.url), monotonicNow() - receivedAt);
    const read = yield* readReview(body, budget);
    if (read.type === 'malformed') {
      this.metrics.degraded.at('malformed').value += 1;
      return this.replies.text(response, 400, read.problem);
    }
    const { uid, operation, dryRun } = read.request;
    const names = namesIn(read.request);
    const count = (verdict: 'allowed' | 'denied' | 'error') => {
      this.metrics.requests.at(kindIn(read.request), operation, verdict, String(dryRun)).value += 1;
      this.metrics.duration.at(operation).observe((monotonicNow() - receivedAt) / 1000);
    };
    try {
      const verdict = isJudged(read.request) ? yield* decide(read.request) : notJudged;
      const review = writeReview(read.request, verdict);
      count(verdict.allowed ? 'allowed' : 'denied');
      this.report({ uid, operation, ...names, dryRun }, verdict);
      this.replies.review(response, review);
    } catch (err) {
      count('error');
      this.metrics.degraded.at('error').value += 1;
      this.log.error({ err, uid, operation, ...names }, 'admission decision failed');
      this.replies.text(response, 500, `the decision failed; look for uid ${uid} in the log of the webhook`);
    }
  }

  /** Counts the findings, and logs a denial, or what would be one. */
  private report(write: object, { allowed, findings }: AdmissionVerdict): void {
    for (const { rule, mode } of findings) this.metrics.findings.at(rule, mode).value += 1;
    const rules = rulesAgainst(findings);
    if (rules.length > 0) this.log.info({ ...write, rules }, allowed ? 'write would be denied' : 'write denied');
  }

  /** Ends an exchange that failed. */
  private fail({ response }: Exchange, error: unknown): void {
    if (error instanceof BodyRefusal) return this.replies.refuse(response, error.reason);
    this.log.error({ err: error }, 'webhook request failed');
    if (response.headersSent) response.destroy();
    else this.replies.fail(response, 'error');
  }
}

function doNothing(): void {}

/** Returns whether the body of a request is JSON. A request without a body needs no type. */
function isJson({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  if (type === 'application/json') return true;
  if (type === undefined)
    return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return /^application\/json[ \t]*(?:;|$)/i.test(type);
}

/** The parameter `timeout` in a URL, as the API server writes it: `10s`. */
function timeoutIn(url = ''): string | undefined {
  return /[?&]timeout=([^&]*)/.exec(url)?.[1];
}

const notJudged: Allowed = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };

function namesIn({ kind, namespace, name }: AdmissionRequest) {
  return { kind: cleanName(kind), namespace: cleanName(namespace), name: cleanName(name) };
}

/** The kind as a label of a metric. Clients that invent kinds must not use up the series. */
function kindIn({ group, kind }: AdmissionRequest): string {
  return findKind(group, kind)?.kind ?? 'other';
}

/** The rules that denied a write, or would have denied it. */
function rulesAgainst(findings: AdmissionVerdict['findings']): readonly string[] {
  if (findings.length === 0) return [];
  return [
    ...new Set(findings.filter(({ mode }) => mode === 'deny' || mode === 'would-deny').map(({ rule }) => rule)),
  ].sort();
}

/** Rules do not apply to status, which other controllers own, or to CONNECT. */
function isJudged({ subResource, operation }: AdmissionRequest): boolean {
  return subResource === '' && operation !== 'CONNECT';
}
