import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../telemetry/index.ts';
import { limitConnections } from './connections.ts';

export interface ProbeOptions {
  /** `reasons` lists what is not ready, one short sentence each. */
  readonly ready: () => Readiness;
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType' | 'counter'>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** A kubelet, Prometheus and a person need a few connections, and each only for one response. */
const limits = {
  connections: 256,
  connectionsPerAddress: 64,
  headerBytes: 8 * 1024,
  requestTimeout: 10_000,
  checkingInterval: 1_000,
};

/**
 * Builds the server of probes and metrics, plain HTTP on a separate port: `GET /healthz` (the process responds), `GET
 * /readyz` (200, or 503 with the reasons) and `GET /metrics`. Every pod of the cluster can reach the port, so
 * connections are limited, and each carries one request. The server does not listen yet.
 */
export function buildProbes({ ready, metrics }: ProbeOptions): FastifyInstance {
  const app = Fastify({
    return503OnClosing: false,
    forceCloseConnections: true,
    requestTimeout: limits.requestTimeout,
    maxRequestsPerSocket: 1,
    bodyLimit: 1,
    http: {
      headersTimeout: limits.requestTimeout,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: limits.checkingInterval,
    },
  });
  const refused = metrics.counter({
    name: 'probe_requests_refused_total',
    help: 'Connections to probes and metrics that were closed because of a limit.',
    labels: ['reason'],
  });
  limitConnections(app.server, limits, refused.at('connections'));
  const pipelined = refused.at('pipelined');
  app.server.on('dropRequest', (_request, socket) => {
    pipelined.value += 1;
    socket.destroy();
  });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const readiness = ready();
    if (readiness.ready) return 'ok\n';
    return reply.code(503).send(`${['not ready:', ...readiness.reasons].join('\n- ')}\n`);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.scrape()));
  return app;
}
