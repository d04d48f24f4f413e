import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Steps } from '../core/text/steps.ts';
import type { AdmissionRequest, AdmissionVerdict, Allowed } from '../core/admission/types.ts';
import type { AdmissionMetrics, Logger } from '../telemetry/index.ts';
import { Bodies, type Body, type BodyLimits } from './body.ts';
import { remainingBudget } from './budget.ts';
import { cleanName } from './limits.ts';
import { sendRefusal, sendText } from './replies.ts';
import { readReview, writeReview } from './review.ts';
import { SharedSlices, Turns } from './turns.ts';
import { monotonicNow } from '../time/clock.ts';

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
  readonly catchUp?: () => Promise<void> | undefined;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** On the clock of `monotonicNow`. */
    receivedAt: number;
    /** Releases the bytes of the body. */
    releaseBody: () => void;
  }
}

/** Serves `POST` for each path. All paths share the limits. */
export function serveValidation(app: FastifyInstance<Server>, validating: Validating, limits: ValidationLimits): void {
  const { inflight, held } = validating.metrics;
  const bodies = new Bodies(limits);
  const turns = new Turns(limits.largeReviews);
  const slices = new SharedSlices();
  const pipelines = new Pipelines();
  const observe = (): void => {
    held.at('bytes').value = bodies.held;
    held.at('reviews').value = turns.waiting;
  };
  // Bodies stay bytes until the handler, which reports their errors itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    try {
      const { body, release } = await bodies.receive(payload);
      request.releaseBody = release;
      // The response is closed already, so its listener will not release the body.
      if (payload.socket.destroyed) release();
      return body;
    } finally {
      // An incomplete body is released after its connection has closed.
      observe();
    }
  });
  app.decorateRequest('receivedAt', 0);
  app.decorateRequest('releaseBody', doNothing);
  for (const [path, decide] of Object.entries(validating.decisions)) {
    app.post<{ Querystring: { timeout?: unknown }; Body: Body | undefined }>(path, {
      onRequest: (request, reply, done) => {
        request.receivedAt = monotonicNow();
        if (pipelines.isBusy(request.raw, reply.raw)) {
          validating.metrics.refused.at('pipelined').value += 1;
          request.raw.socket.destroy();
          return;
        }
        inflight.value += 1;
        // Also emitted when the client disconnects before the response.
        reply.raw.once('close', () => {
          inflight.value -= 1;
          request.releaseBody();
          observe();
        });
        if (inflight.value > limits.reviews) void sendRefusal(reply, 'busy', validating.metrics);
        else done();
      },
      handler: async (request, reply) => {
        if (request.body?.isLarge !== true) return answer(request, reply, { ...validating, decide, slices });
        // A parsed large review takes several times its bytes, so they run one at a time.
        const turn = turns.enter();
        if (turn === undefined) return sendRefusal(reply, 'busy', validating.metrics);
        observe();
        await turn;
        try {
          return await answer(request, reply, { ...validating, decide, slices });
        } finally {
          turns.leave();
          observe();
        }
      },
    });
    const onlyPost = async (_request: FastifyRequest, reply: FastifyReply) =>
      sendText(reply.header('allow', 'POST'), 405, 'send an AdmissionReview with POST');
    app.route({
      method: app.supportedMethods.filter((method) => method !== 'POST'),
      url: path,
      onRequest: onlyPost,
      handler: onlyPost,
    });
  }
}

function doNothing(): void {}

/** Detects clients that send a request before the previous response. The API server never does. */
class Pipelines {
  private readonly last = new WeakMap<object, ServerResponse>();

  isBusy({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const last = this.last.get(socket);
    this.last.set(socket, response);
    return last !== undefined && !last.writableEnded;
  }
}

const notJudged: Allowed = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };

type ValidationRequest = FastifyRequest<{ Querystring: { timeout?: unknown }; Body: Body | undefined }>;

interface Answering extends Pick<Validating, 'catchUp' | 'log' | 'metrics'> {
  readonly decide: Decide;
  readonly slices: SharedSlices;
}

async function answer(request: ValidationRequest, reply: FastifyReply, validating: Answering): Promise<FastifyReply> {
  // The client may have disconnected while the review waited.
  if (reply.raw.destroyed) return reply.hijack();
  const elapsed = monotonicNow() - request.receivedAt;
  const read = await validating.slices.run(readReview(request.body, remainingBudget(request.query.timeout, elapsed)));
  if (read.type === 'request') return decideAndReply(read.request, reply, validating);
  validating.metrics.degraded.at('malformed').value += 1;
  return sendText(reply, 400, read.problem);
}

async function decideAndReply(
  request: AdmissionRequest,
  reply: FastifyReply,
  { decide, catchUp, slices, log, metrics }: Answering,
): Promise<FastifyReply> {
  const { uid, operation, dryRun } = request;
  const [kind, namespace, name] = [cleanName(request.kind), cleanName(request.namespace), cleanName(request.name)];
  const count = (verdict: 'allowed' | 'denied' | 'error') => {
    metrics.requests.at(kind, operation, verdict, String(dryRun)).value += 1;
    metrics.duration.at(operation).observe((monotonicNow() - reply.request.receivedAt) / 1000);
  };
  try {
    await catchUp?.();
    const verdict = isJudged(request) ? await slices.run(decide(request)) : notJudged;
    const review = writeReview(request, verdict);
    count(verdict.allowed ? 'allowed' : 'denied');
    for (const { rule, mode } of verdict.findings) metrics.findings.at(rule, mode).value += 1;
    const rules = rulesAgainst(verdict);
    if (rules.length > 0)
      log.info(
        { uid, operation, kind, namespace, name, dryRun, rules },
        verdict.allowed ? 'write would be denied' : 'write denied',
      );
    return reply.send(review);
  } catch (err) {
    count('error');
    metrics.degraded.at('error').value += 1;
    log.error({ err, uid, operation, kind, namespace, name }, 'admission decision failed');
    return sendText(reply, 500, `the decision failed; look for uid ${uid} in the log of the webhook`);
  }
}

/** The rules that denied a write, or would have denied it. */
function rulesAgainst({ findings }: AdmissionVerdict): readonly string[] {
  return [
    ...new Set(findings.filter(({ mode }) => mode === 'deny' || mode === 'would-deny').map(({ rule }) => rule)),
  ].sort();
}

/** Rules do not apply to status, which other controllers own, or to CONNECT. */
function isJudged({ subResource, operation }: AdmissionRequest): boolean {
  return subResource === '' && operation !== 'CONNECT';
}
