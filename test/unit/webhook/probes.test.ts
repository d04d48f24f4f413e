import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/telemetry/index.ts';
import { buildProbes, type Readiness } from '../../../src/webhook/index.ts';

let readiness: Readiness;
let app: ReturnType<typeof buildProbes>;

beforeEach(() => {
  readiness = { ready: true, reasons: [] };
  const metrics = createMetrics();
  metrics.counter({ name: 'a_total', help: 'A.', labels: [] }).at().value = 3;
  app = buildProbes({ ready: () => readiness, metrics });
});

afterEach(() => app.close());

const get = (url: string) => app.inject({ method: 'GET', url });

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
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.body).toContain('sallyport_a_total 3\n');
  });

  test('knows nothing else', async () => {
    expect((await get('/validate')).statusCode).toBe(404);
  });
});
