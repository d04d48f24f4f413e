import { createServer, type Server } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { CertificateMaterial, CertificateSource } from '../certificates/index.ts';
import type { AdmissionMetrics, Logger } from '../telemetry/index.ts';
import { limitConnections, type ConnectionLimits } from './connections.ts';
import type { Gate } from '../time/slices.ts';
import { beginHandshakesInTurns } from '../handshakes/in-turns.ts';
import { pipelineOptions, serveExclusively } from './pipelines.ts';
import { Replies, type Failure } from './replies.ts';
import { Reviews, type Decide, type ValidationLimits } from './validation.ts';

export interface WebhookOptions {
  /** Must not have side effects: the API server may call twice, or for a dry run. */
  readonly decide: Decide;
  /** Waits until the evaluation contains the events that have arrived; `undefined`: it does. */
  readonly catchUp?: () => Promise<void> | undefined;
  /** Resolves when no change is being applied to the evaluation; `undefined` if that is so. Reviews wait for it. */
  readonly readable?: Gate;
  /** Decides on changes of objects that objects of the Gateway API refer to. Without it, `/impact` does not exist. */
  readonly impact?: Decide;
  readonly certificates: CertificateSource;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
  /** True while the process prepares to stop: every response then asks the client to open its next connection elsewhere. */
  readonly draining?: () => boolean;
  readonly limits?: Partial<WebhookLimits>;
}

/** Times are in milliseconds. */
export interface WebhookLimits extends ValidationLimits, ConnectionLimits {
  /** Limit of the request line and all headers. */
  readonly headerBytes: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly handshakeTimeout: number;
  /** Interval at which requests are checked for timeouts. */
  readonly checkingInterval: number;
}

export const defaultLimits: WebhookLimits = {
  // A request may have 3 MiB, and a review contains two objects. An escaped object can be larger, but then the storage
  // rejects it anyway: docs/guides/limits.md.
  bodyBytes: 7 * 1024 * 1024,
  // Sixteen of the largest.
  heldBytes: 112 * 1024 * 1024,
  // An API server has at most 200 writes in flight, and a cluster has three or five of them.
  reviews: 1000,
  largeReviews: 64,
  connections: 1000,
  connectionsPerAddress: 500,
  headerBytes: 16 * 1024,
  headersTimeout: 10_000,
  // The API server's own timeout is 30 seconds at most.
  requestTimeout: 35_000,
  // Longer than the API server keeps an idle connection (90 s), so a connection is never closed while a new request arrives.
  keepAliveTimeout: 120_000,
  handshakeTimeout: 10_000,
  checkingInterval: 5_000,
};

/**
 * Builds the webhook's HTTPS server: `POST /validate`, and `POST /impact` if requested, respond to an AdmissionReview of
 * `admission.k8s.io/v1`. The server does not listen yet. A body that is not a review, or a decision that throws, gets an error status. The API
 * server counts that as a failed call, so the failurePolicy decides.
 *
 * @throws if the first certificate is invalid; a later invalid one is logged, and the previous one stays in use
 */
export function buildWebhook(options: WebhookOptions): FastifyInstance<Server> {
  const { certificates, metrics, log, decide, catchUp, readable, impact, draining = () => false } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let isClosing = false;
  const replies = new Replies(metrics, () => isClosing || draining());
  const decisions = { '/validate': decide, ...(impact && { '/impact': impact }) };
  const reviews = new Reviews({ decisions, catchUp, readable, log, metrics, replies }, limits);
  const https = {
    ...tlsOptions(certificates.current()),
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    handshakeTimeout: limits.handshakeTimeout,
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: limits.checkingInterval,
  };
  const app: FastifyInstance<Server> = Fastify({
    https,
    serverFactory: (handle) => {
      const server = createServer({ ...https, ...pipelineOptions });
      serveExclusively(server, {
        // The API server never sends a request before it has read the last response.
        isFree: (last) => last.writableEnded,
        refused: metrics.refused.at('pipelined'),
        handle: (request, response) => {
          if (!reviews.take(request, response)) handle(request, response);
        },
      });
      return server;
    },
    // Rejecting a call would reject the user's change, so calls are served as usual while closing.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: withoutSchemas },
  });
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  beginHandshakesInTurns(app.server, limits.handshakeTimeout);
  limitConnections(app.server, limits, metrics.refused.at('connections'));
  followCertificates(app, options);
  routeReviews(app, reviews, replies);
  answerErrors(app, options, replies);
  return app;
}

/** Reviews with another spelling of a path, and other methods. */
function routeReviews(app: FastifyInstance<Server>, reviews: Reviews, replies: Replies): void {
  // Bodies of all other requests stay unread.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const onlyPost = (reply: FastifyReply): void =>
    replies.unread(reply.raw, 405, 'send an AdmissionReview with POST', { allow: 'POST' });
  for (const url of reviews.paths) {
    app.route({
      method: app.supportedMethods,
      url,
      // Before Fastify reads the body.
      onRequest: (request: FastifyRequest, reply: FastifyReply) => {
        reply.hijack();
        if (request.method === 'POST') reviews.takeAt(url, request.raw, reply.raw);
        else onlyPost(reply);
      },
      handler: () => undefined,
    });
  }
}

/** No route has a schema. Without these functions, Fastify loads two compilers of schemas, which take 3 MiB. */
const withoutSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('routes of the webhook have no schemas');
}

function followCertificates(app: FastifyInstance<Server>, { certificates, log, metrics }: WebhookOptions): void {
  const stop = certificates.onChange(() => {
    try {
      app.server.setSecureContext(tlsOptions(certificates.current()));
      log.info('serving certificate replaced');
    } catch (err) {
      metrics.degraded.at('certificate').value += 1;
      log.error({ err }, 'invalid serving certificate, the previous certificate stays in use');
    }
  });
  app.addHook('onClose', async () => stop());
}

function tlsOptions({ certificate, privateKey }: CertificateMaterial) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' as const };
}

function answerErrors(app: FastifyInstance<Server>, { log }: WebhookOptions, replies: Replies): void {
  app.setNotFoundHandler((_request, reply) =>
    replies.unread(reply.hijack().raw, 404, 'not found; send an AdmissionReview to /validate'),
  );
  app.setErrorHandler((err: Error & { statusCode?: number }, _request, reply) => {
    const failure = failures.get(err.statusCode) ?? 'error';
    if (failure === 'error') log.error({ err }, 'webhook request failed');
    replies.fail(reply.hijack().raw, failure);
  });
}

const failures: ReadonlyMap<number | undefined, Failure> = new Map([
  [400, 'malformed'],
  [415, 'content-type'],
]);
