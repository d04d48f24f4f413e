import type { Server } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { CertificateMaterial, CertificateSource } from '../certificates/index.ts';
import type { AdmissionRequest, AdmissionVerdict, Allowed } from '../core/admission/types.ts';
import type { AdmissionMetrics, Logger } from '../telemetry/index.ts';
import { remainingBudget } from './budget.ts';
import { readReview, writeReview } from './review.ts';

export interface WebhookOptions {
  /** Must not have effects: the API server may ask twice, or for a dry run. */
  readonly decide: (request: AdmissionRequest) => AdmissionVerdict;
  readonly certificates: CertificateSource;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
  /** True while the process prepares to stop: every reply then asks the client to open its next connection elsewhere. */
  readonly draining?: () => boolean;
  readonly limits?: Partial<WebhookLimits>;
}

/** Times are in milliseconds. */
export interface WebhookLimits {
  readonly bodyBytes: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly handshakeTimeout: number;
}

export const defaultLimits: WebhookLimits = {
  // A request may have 3 MiB, and a review holds two objects. Escaped, an object can take more, but only one that the
  // storage refuses anyway: docs/guides/limits.md.
  bodyBytes: 7 * 1024 * 1024,
  headersTimeout: 10_000,
  // The API server itself waits 30 seconds at most.
  requestTimeout: 35_000,
  // Longer than the API server keeps an idle connection (90 s), so that it is never closed under a new request.
  keepAliveTimeout: 120_000,
  handshakeTimeout: 10_000,
};

/**
 * The webhook's HTTPS server: `POST /validate` answers an AdmissionReview of `admission.k8s.io/v1`. The server does
 * not listen yet. What is no review gets an error status, a failed call for the API server, so that the
 * failurePolicy decides; so does a decision that throws.
 *
 * @throws where the first certificate cannot be used; a later one that cannot is logged, and the old one stays
 */
export function buildWebhook(options: WebhookOptions): FastifyInstance<Server> {
  const { certificates, draining = () => false } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const app: FastifyInstance<Server> = Fastify({
    https: { ...tlsOptions(certificates.current()), headersTimeout: limits.headersTimeout, handshakeTimeout: limits.handshakeTimeout },
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    // A refused call would reject the user's change; while closing, calls are answered like any other.
    return503OnClosing: false,
    exposeHeadRoutes: false,
  });

  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing || draining()) reply.header('connection', 'close');
    done(null, payload);
  });
  followCertificates(app, options);
  answerErrors(app, options);
  serveValidation(app, options);
  return app;
}

function serveValidation(app: FastifyInstance<Server>, options: WebhookOptions): void {
  const { inflight } = options.metrics;
  // Bodies stay text until the handler: what is wrong with them is ours to say.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.decorateRequest('receivedAt', 0);
  app.post<{ Querystring: { timeout?: unknown } }>('/validate', {
    onRequest: (request, reply, done) => {
      request.receivedAt = performance.now();
      inflight.value += 1;
      // Also comes when the client goes away before the answer.
      reply.raw.once('close', () => (inflight.value -= 1));
      done();
    },
    handler: (request, reply) => {
      const elapsed = performance.now() - request.receivedAt;
      const read = readReview(request.body, remainingBudget(request.query.timeout, elapsed));
      if (read.type === 'request') return decideAndReply(read.request, reply, options);
      options.metrics.degraded.at('malformed').value += 1;
      return sendText(reply, 400, read.problem);
    },
  });
  const onlyPost = async (_request: FastifyRequest, reply: FastifyReply) => sendText(reply.header('allow', 'POST'), 405, 'send an AdmissionReview with POST');
  app.route({ method: app.supportedMethods.filter((method) => method !== 'POST'), url: '/validate', onRequest: onlyPost, handler: onlyPost });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** On the clock of `performance.now()`. */
    receivedAt: number;
  }
}

const notJudged: Allowed = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };

function decideAndReply(asked: AdmissionRequest, reply: FastifyReply, { decide, log, metrics }: WebhookOptions): FastifyReply {
  const { uid, operation, kind, namespace, name, dryRun } = asked;
  const count = (verdict: 'allowed' | 'denied' | 'error') => {
    metrics.requests.at(kind, operation, verdict, String(dryRun)).value += 1;
    metrics.duration.at(operation).observe((performance.now() - reply.request.receivedAt) / 1000);
  };
  try {
    const verdict = isJudged(asked) ? decide(asked) : notJudged;
    const review = writeReview(asked, verdict);
    count(verdict.allowed ? 'allowed' : 'denied');
    for (const { rule, mode } of verdict.findings) metrics.findings.at(rule, mode).value += 1;
    const rules = rulesAgainst(verdict);
    if (rules.length > 0) log.info({ uid, operation, kind, namespace, name, dryRun, rules }, verdict.allowed ? 'write would be denied' : 'write denied');
    return reply.send(review);
  } catch (err) {
    count('error');
    metrics.degraded.at('error').value += 1;
    log.error({ err, uid, operation, kind, namespace, name }, 'admission decision failed');
    return sendText(reply, 500, `the decision failed; look for uid ${uid} in the log of the webhook`);
  }
}

/** The rules that denied a write, or would have. */
function rulesAgainst({ findings }: AdmissionVerdict): readonly string[] {
  return [...new Set(findings.filter(({ mode }) => mode === 'deny' || mode === 'would-deny').map(({ rule }) => rule))].sort();
}

/** Other controllers own the status; neither it nor a connection to an object is what the rules are about. */
function isJudged({ subResource, operation }: AdmissionRequest): boolean {
  return subResource === '' && operation !== 'CONNECT';
}

function followCertificates(app: FastifyInstance<Server>, { certificates, log, metrics }: WebhookOptions): void {
  const stop = certificates.onChange(() => {
    try {
      app.server.setSecureContext(tlsOptions(certificates.current()));
      log.info('serving certificate replaced');
    } catch (err) {
      metrics.degraded.at('certificate').value += 1;
      log.error({ err }, 'new serving certificate cannot be used, the old one stays');
    }
  });
  app.addHook('onClose', async () => stop());
}

function tlsOptions({ certificate, privateKey }: CertificateMaterial) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' as const };
}

function answerErrors(app: FastifyInstance<Server>, { log, metrics }: WebhookOptions): void {
  app.setNotFoundHandler((_request, reply) => sendText(reply, 404, 'nothing here; send an AdmissionReview to /validate'));
  app.setErrorHandler((err: Error & { statusCode?: number }, _request, reply) => {
    const { code, reason, text } = refusals.find(({ code }) => code === err.statusCode) ?? failure;
    metrics.degraded.at(reason).value += 1;
    if (code === failure.code) log.error({ err }, 'webhook request failed');
    return sendText(reply, code, text);
  });
}

const refusals = [
  { code: 400, reason: 'malformed', text: 'the request cannot be read' },
  { code: 413, reason: 'too-large', text: 'the body is larger than an AdmissionReview can be' },
  { code: 415, reason: 'content-type', text: 'send the AdmissionReview with Content-Type: application/json' },
];
const failure = { code: 500, reason: 'error', text: 'the request failed; see the log of the webhook' };

/** Plain text: the API server shows it to the user after "failed calling webhook". */
function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return reply.code(code).type('text/plain; charset=utf-8').send(`${text}\n`);
}
