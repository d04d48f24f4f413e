import { afterEach, describe, expect, test } from '@jest/globals';
import type { Retry, RouteRule } from '../../../src/core/routing/config.ts';
import { closeBackends, refusingPort, startBackend, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { closeProxies, prefixRule, send, sendRaw, startProxy, webRoute } from '../../support/proxy.ts';
import { until } from '../../support/until.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const once: Retry = { codes: [503], attempts: 1, backoff: 1 };

/** Answers with these statuses, the last one from then on, and notes the bodies that it got. */
async function startMoody(...statuses: readonly number[]) {
  const bodies: string[] = [];
  const { port } = await startBackend((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        body += chunk;
      })
      .on('end', () => {
        response.writeHead(statuses[Math.min(bodies.length, statuses.length - 1)] ?? 200).end('from the backend');
        bodies.push(body);
      });
  });
  return { port, bodies };
}

function startRetrying(rule: Partial<RouteRule>, ...ports: readonly number[]) {
  return startProxy([endpointsConfig('app', ...ports), webRoute({ ...prefixRule('/', []), ...rule })]);
}

describe('a listed status', () => {
  test('is tried again, with any method and the whole body', async () => {
    const backend = await startMoody(503, 200);
    const { port, log } = await startRetrying({ retry: once }, backend.port);
    const body = 'b'.repeat(40_000);
    expect(await send(port, '/', { method: 'POST', body })).toMatchObject({ status: 200, body: 'from the backend' });
    expect(backend.bodies).toEqual([body, body]);
    expect(log).toHaveLength(1);
  });

  test('is tried again with a body that arrived with its head', async () => {
    const backend = await startMoody(503, 200);
    const { port, proxy } = await startRetrying({ retry: once }, backend.port);
    const response = await sendRaw(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello',
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    expect(backend.bodies).toEqual(['hello', 'hello']);
    expect(proxy.counters().requestBytes).toBe(5);
  });

  test('is passed on after the last try', async () => {
    const backend = await startMoody(503);
    const { port } = await startRetrying({ retry: { ...once, attempts: 3 } }, backend.port);
    expect(await send(port, '/')).toMatchObject({ status: 503, body: 'from the backend' });
    expect(backend.bodies).toHaveLength(4);
  });

  test.each([
    ['no retries are wanted', { ...once, attempts: 0 }],
    ['the status is another one', { ...once, codes: [500] }],
  ])('is passed on at once where %s', async (_why, retry) => {
    const backend = await startMoody(503, 200);
    const { port } = await startRetrying({ retry }, backend.port);
    expect((await send(port, '/')).status).toBe(503);
    expect(backend.bodies).toHaveLength(1);
  });

  test('is passed on where the body was too large to be kept', async () => {
    const backend = await startMoody(503, 200);
    const { port } = await startRetrying({ retry: once }, backend.port);
    expect((await send(port, '/', { method: 'POST', body: 'b'.repeat(1_000_000) })).status).toBe(503);
    expect(backend.bodies).toHaveLength(1);
  });

  test('tries another endpoint where there is one', async () => {
    const sick = await startMoody(503);
    const well = await startMoody(200);
    const { port } = await startRetrying({ retry: once }, sick.port, well.port);
    for (let request = 0; request < 4; request += 1) expect((await send(port, '/')).status).toBe(200);
    expect(well.bodies).toHaveLength(4);
  });
});

test('endpoints that are there by then are tried, and not those that have gone', async () => {
  const [sick, well] = [await startMoody(503), await startMoody(200)];
  const { port, proxy, apply } = await startRetrying({ retry: { ...once, backoff: 500 } }, sick.port);
  const answer = send(port, '/');
  await until(() => expect(sick.bodies).toHaveLength(1));
  await apply(endpointsConfig('app', well.port));
  expect((await answer).status).toBe(200);
  expect(sick.bodies).toHaveLength(1);
  expect(proxy.counters().upstreamAttempts).toBe(2);
});

describe('timeouts', () => {
  test('the time for the request ends it in the middle of a pause, without the earlier answer', async () => {
    const backend = await startMoody(503);
    const { port, log } = await startRetrying(
      { retry: { ...once, backoff: 60_000 }, requestTimeout: 50 },
      backend.port,
    );
    expect((await send(port, '/')).status).toBe(504);
    expect(log).toEqual([expect.objectContaining({ reason: 'request-timeout' })]);
  });

  test.each([
    ['GET', 200],
    ['POST', 504],
  ])('%s after the time for a try: %i', async (method, status) => {
    let calls = 0;
    const backend = await startBackend((_request, response) => {
      calls += 1;
      if (calls > 1) response.end('ok');
    });
    const { port } = await startRetrying({ retry: { ...once, codes: [] }, backendRequestTimeout: 50 }, backend.port);
    expect((await send(port, '/', { method })).status).toBe(status);
  });
});

describe('connections', () => {
  test('the endpoint that refuses is passed by', async () => {
    const { port } = await startRetrying(
      { retry: { codes: [], attempts: 100 } },
      await refusingPort(),
      (await startEcho('alive')).port,
    );
    for (let request = 0; request < 10; request += 1) expect((await send(port, '/')).status).toBe(200);
  });

  test('all endpoints are tried again, as often as allowed', async () => {
    const { port, proxy } = await startRetrying(
      { retry: { codes: [], attempts: 4, backoff: 1 } },
      await refusingPort(),
      await refusingPort(),
    );
    expect((await send(port, '/')).status).toBe(503);
    expect(proxy.counters().upstreamAttempts).toBe(5);
  });

  test('no attempts: not even another endpoint', async () => {
    const { port, proxy } = await startRetrying(
      { retry: { codes: [], attempts: 0 } },
      await refusingPort(),
      await refusingPort(),
    );
    expect((await send(port, '/')).status).toBe(503);
    expect(proxy.counters().upstreamAttempts).toBe(1);
  });

  test('a request that a backend may have acted on is not repeated', async () => {
    const backend = await startRawBackend((socket) => socket.once('data', () => socket.destroy()));
    const { port } = await startRetrying({ retry: { codes: [500, 502], attempts: 3, backoff: 1 } }, backend.port);
    expect((await send(port, '/')).status).toBe(502);
    expect(backend.connections()).toBe(1);
  });
});
