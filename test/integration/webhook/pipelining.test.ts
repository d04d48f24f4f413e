import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createMetrics } from '../../../src/telemetry/index.ts';
import { buildProbes, type Probes } from '../../../src/webhook/probes.ts';
import { buildWebhook } from '../../../src/webhook/server.ts';
import { allow, atOnce, webhookGround } from '../../support/webhook.ts';

const requests = {
  'that are served': 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
  'that are not found': 'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n',
  'with a path that cannot be decoded': 'GET /% HTTP/1.1\r\nHost: a\r\n\r\n',
  'without a review': 'POST /validate HTTP/1.1\r\nHost: a\r\n\r\n',
  'with an unknown expectation': 'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: a\r\n\r\n',
  'that expect to continue': 'POST /validate HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n',
  'without a host': 'GET /healthz HTTP/1.1\r\n\r\n',
  'of HTTP/1.0': 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
};
const cases = Object.entries(requests);

/** Sends requests in one piece. Resolves when the connection is closed. */
async function pipeline(socket: Socket, request: string): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket
    .resume()
    .on('error', () => undefined)
    .once('close', () => resolve());
  socket.write(request.repeat(2_000));
  await closed;
}

const countOf = (page: string, name: string): number =>
  Number(new RegExp(`^${name}\\{reason="pipelined"\\} (\\d+)$`, 'm').exec(page)?.[1]);

describe('the webhook', () => {
  let app: FastifyInstance;
  let scrape: () => Promise<string>;

  beforeEach(async () => {
    const { certificates, log, metrics, scrape: scrapeAll } = await webhookGround();
    scrape = scrapeAll;
    app = buildWebhook({ decide: atOnce(() => allow), certificates, log, metrics });
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => app.close());

  test.each(cases)('reads no further requests %s', async (_name, request) => {
    const { port } = app.server.address() as AddressInfo;
    await pipeline(connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }), request);
    expect(countOf(await scrape(), 'sallyport_admission_connections_refused_total')).toBe(1);
  });
});

describe('the server of probes', () => {
  let metrics: ReturnType<typeof createMetrics>;
  let app: Probes;

  beforeEach(async () => {
    metrics = createMetrics();
    app = buildProbes({ ready: () => ({ ready: true, reasons: [] }), metrics });
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => app.close());

  test.each(cases)('reads no further requests %s', async (_name, request) => {
    const { port } = app.server.address() as AddressInfo;
    await pipeline(connectPlain({ host: '127.0.0.1', port }), request);
    expect(countOf(await metrics.scrape(), 'sallyport_probe_requests_refused_total')).toBe(1);
  });
});
