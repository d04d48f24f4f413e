import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';
import { buildProbes, type Probes, type Readiness } from '../../../src/webhook/probes.ts';

let readiness: Readiness;
let app: Probes;

beforeEach(async () => {
  readiness = { ready: true, reasons: [] };
  const metrics = createMetrics();
  metrics.counter({ name: 'a_total', help: 'A.', labels: [] }).at().value = 3;
  app = buildProbes({ ready: () => readiness, metrics });
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => app.close());

interface Answer {
  readonly statusCode: number;
  readonly type: string | null;
  readonly body: string;
}

async function get(path: string, method = 'GET'): Promise<Answer> {
  const { port } = app.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return { statusCode: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

describe('buildProbes', () => {
  test('/healthz says that the process answers, ready or not', async () => {
    readiness = { ready: false, reasons: ['caches not synced'] };
    expect(await get('/healthz')).toMatchObject({ statusCode: 200, body: 'ok\n' });
  });

  test('/readyz follows readiness and says what is missing', async () => {
    expect(await get('/readyz')).toMatchObject({ statusCode: 200, body: 'ok\n' });
    readiness = { ready: false, reasons: ['caches not synced', 'no certificate'] };
    expect(await get('/readyz')).toMatchObject({
      statusCode: 503,
      body: 'not ready:\n- caches not synced\n- no certificate\n',
    });
  });

  test('/metrics prints what Prometheus reads', async () => {
    const response = await get('/metrics');
    expect(response.type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.body).toContain('sallyport_a_total 3\n');
  });

  test('/metrics makes one page for all requests that wait for it', async () => {
    await app.close();
    const held = Promise.withResolvers<string>();
    let pages = 0;
    const scrape = (): Promise<string> => {
      pages += 1;
      return held.promise;
    };
    app = buildProbes({ ready: () => readiness, metrics: { ...createMetrics(), scrape } });
    await app.listen({ host: '127.0.0.1', port: 0 });
    let requests = 0;
    app.server.on('request', () => (requests += 1));
    const answers = Array.from({ length: 10 }, () => get('/metrics'));
    await eventually(() => expect(requests).toBe(10));
    held.resolve('page\n');
    for (const { body } of await Promise.all(answers)) expect(body).toBe('page\n');
    expect(pages).toBeLessThanOrEqual(2);
  });

  test('knows nothing else', async () => {
    expect((await get('/validate')).statusCode).toBe(404);
    expect((await get('/toString')).statusCode).toBe(404);
    expect((await get('/healthz', 'POST')).statusCode).toBe(404);
  });

  test('answers HEAD without a body, and ignores a query', async () => {
    expect(await get('/healthz', 'HEAD')).toMatchObject({ statusCode: 200, body: '' });
    expect(await get('/readyz?verbose')).toMatchObject({ statusCode: 200, body: 'ok\n' });
  });

  test('a page that fails is an error of that request only', async () => {
    await app.close();
    const metrics = createMetrics();
    app = buildProbes({
      ready: () => readiness,
      metrics: { ...metrics, scrape: () => Promise.reject(new Error('gone')) },
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    expect(await get('/metrics')).toMatchObject({ statusCode: 500, body: 'the page failed: gone\n' });
    expect(await get('/healthz')).toMatchObject({ statusCode: 200 });
  });

  test('a port that is taken is an error', async () => {
    const { port } = app.server.address() as AddressInfo;
    const other = buildProbes({ ready: () => readiness, metrics: createMetrics() });
    await expect(other.listen({ host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
  });
});
