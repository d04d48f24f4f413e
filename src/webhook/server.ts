import type { Server } from 'node:https';
import Fastify, { type FastifyInstance } from 'fastify';
import type { CertificateMaterial, CertificateSource } from '../certificates/index.ts';
import type { AdmissionMetrics, Logger } from '../telemetry/index.ts';
import { BodyRefusal } from './body.ts';
import { limitConnections, type ConnectionLimits } from './connections.ts';
import { sendRefusal, sendText } from './replies.ts';
import { serveValidation, type Decide, type ValidationLimits } from './validation.ts';

export interface WebhookOptions {
  /** Must not have effects: the API server may ask twice, or for a dry run. */
  readonly decide: Decide;
  readonly certificates: CertificateSource;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
  /** True while the process prepares to stop: every reply then asks the client to open its next connection elsewhere. */
  readonly draining?: () => boolean;
  readonly limits?: Partial<WebhookLimits>;
}

/** Times are in milliseconds. */
export interface WebhookLimits extends ValidationLimits, ConnectionLimits {
  /** Of the request line and all headers. */
  readonly headerBytes: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly handshakeTimeout: number;
  /** How often requests are looked for that take too long. */
  readonly checkingInterval: number;
}

export const defaultLimits: WebhookLimits = {
  // A request may have 3 MiB, and a review holds two objects. Escaped, an object can take more, but only one that the
  // storage refuses anyway: docs/guides/limits.md.
  bodyBytes: 7 * 1024 * 1024,
  // Sixteen of the largest.
  heldBytes: 112 * 1024 * 1024,
  // An API server has at most 200 writes in flight; there are three of them or five.
  reviews: 1000,
  largeReviews: 64,
  connections: 1000,
  connectionsPerAddress: 500,
  headerBytes: 16 * 1024,
  headersTimeout: 10_000,
  // The API server itself waits 30 seconds at most.
  requestTimeout: 35_000,
  // Longer than the API server keeps an idle connection (90 s), so that it is never closed under a new request.
  keepAliveTimeout: 120_000,
  handshakeTimeout: 10_000,
  checkingInterval: 5_000,
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
    https: {
      ...tlsOptions(certificates.current()), headersTimeout: limits.headersTimeout, handshakeTimeout: limits.handshakeTimeout,
      maxHeaderSize: limits.headerBytes, connectionsCheckingInterval: limits.checkingInterval,
    },
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
  limitConnections(app.server, limits, options.metrics.refused.at('connections'));
  followCertificates(app, options);
  answerErrors(app, options);
  serveValidation(app, options, limits);
  return app;
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
    if (err instanceof BodyRefusal) return sendRefusal(reply, err.reason, metrics);
    const { code, reason, text } = errors.find(({ code }) => code === err.statusCode) ?? failure;
    metrics.degraded.at(reason).value += 1;
    if (code === failure.code) log.error({ err }, 'webhook request failed');
    return sendText(reply, code, text);
  });
}

const errors = [
  { code: 400, reason: 'malformed', text: 'the request cannot be read' },
  { code: 415, reason: 'content-type', text: 'send the AdmissionReview with Content-Type: application/json' },
];
const failure = { code: 500, reason: 'error', text: 'the request failed; see the log of the webhook' };
