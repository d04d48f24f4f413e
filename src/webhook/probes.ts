import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Metrics } from '../telemetry/index.ts';
import { limitConnections } from './connections.ts';
import { MetricsPage } from './metrics-page.ts';
import { pipelineOptions, serveExclusively } from './pipelines.ts';

export interface ProbeOptions {
  /** `reasons` lists what is not ready, one short sentence each. */
  readonly ready: () => Readiness;
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType' | 'counter'>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** The server of probes and metrics. */
export interface Probes {
  readonly server: Server;
  /** @throws if the port is taken or the machine does not have the address */
  listen(place: { readonly host: string; readonly port: number }): Promise<void>;
  /** Closes the port and all connections. */
  close(): Promise<void>;
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
 * connections are limited, and each carries one request. The server does not listen yet. It uses Node's own server, because data
 * planes, controllers and the watchdog need Fastify for nothing else.
 */
export function buildProbes({ ready, metrics }: ProbeOptions): Probes {
  const server = createServer({
    requestTimeout: limits.requestTimeout,
    headersTimeout: limits.requestTimeout,
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: limits.checkingInterval,
    ...pipelineOptions,
  });
  const refused = metrics.counter({
    name: 'probe_requests_refused_total',
    help: 'Connections to probes and metrics that were closed because of a limit.',
    labels: ['reason'],
  });
  limitConnections(server, limits, refused.at('connections'));
  const page = new MetricsPage(() => metrics.scrape());
  const pages: Pages = new Map<string, () => Page | Promise<Page>>([
    ['/healthz', () => ok],
    ['/readyz', () => readinessPage(ready())],
    ['/metrics', async () => ({ code: 200, type: metrics.contentType, body: await page.read() })],
  ]);
  serveExclusively(server, {
    // Each response closes the connection.
    isFree: () => false,
    refused: refused.at('pipelined'),
    handle: (request, response) => void answer(request, response, pages),
  });
  return {
    server,
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => {
          server.off('error', reject);
          resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Page {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

type Pages = ReadonlyMap<string, () => Page | Promise<Page>>;

const plain = 'text/plain; charset=utf-8';
const ok: Page = { code: 200, type: plain, body: 'ok\n' };
const nothing: Page = { code: 404, type: plain, body: 'not found; GET /healthz, /readyz or /metrics\n' };

function readinessPage({ ready, reasons }: Readiness): Page {
  return ready ? ok : { code: 503, type: plain, body: `${['not ready:', ...reasons].join('\n- ')}\n` };
}

async function answer(
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
  pages: Pages,
): Promise<void> {
  const [path = ''] = url.split('?');
  const read = method === 'GET' || method === 'HEAD' ? pages.get(path) : undefined;
  const { code, type, body } = await Promise.try(read ?? (() => nothing)).catch(failure);
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(body), connection: 'close' });
  response.end(method === 'HEAD' ? undefined : body);
}

function failure(error: unknown): Page {
  return {
    code: 500,
    type: plain,
    body: `the page failed: ${error instanceof Error ? error.message : String(error)}\n`,
  };
}
