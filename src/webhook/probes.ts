import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../telemetry/index.ts';

export interface ProbeOptions {
  /** `reasons` says what is still missing, one short sentence each. */
  readonly ready: () => Readiness;
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType'>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/**
 * Probes and metrics, plain HTTP on a port of their own: `GET /healthz` (the process answers), `GET /readyz` (200, or
 * 503 with the reasons) and `GET /metrics`. The server does not listen yet.
 */
export function buildProbes({ ready, metrics }: ProbeOptions): FastifyInstance {
  const app = Fastify({ return503OnClosing: false, forceCloseConnections: true });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const readiness = ready();
    if (readiness.ready) return 'ok\n';
    return reply.code(503).send(`${['not ready:', ...readiness.reasons].join('\n- ')}\n`);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.scrape()));
  return app;
}
