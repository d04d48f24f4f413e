import { afterEach, describe, expect, test } from '@jest/globals';
import type { Retry, RouteRule } from '../../../src/core/routing/config.ts';
import { authorizedBy, startApp, startAuthorized, startServer } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, send } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const once: Retry = { codes: [503], attempts: 1, backoff: 1 };

/** A server that answers with these statuses, the last one from then on. */
function startMoody(...statuses: readonly number[]) {
  let calls = 0;
  return startServer(() => {
    calls += 1;
    return { status: statuses[Math.min(calls, statuses.length) - 1] ?? 200 };
  });
}

async function startRetrying(server: number, parts: Partial<RouteRule>) {
  const app = await startApp();
  return { app, ...(await startAuthorized(app.port, server, { parts })) };
}

describe('retries of the rule apply to calls of the authorization server', () => {
  test('a listed status is tried again, and the backend gets the request once', async () => {
    const server = await startMoody(503, 200);
    const { port, app, proxy } = await startRetrying(server.port, { retry: once });
    expect((await send(port, '/', { method: 'POST', body: 'b' })).status).toBe(200);
    expect([server.asked.length, app.reached]).toEqual([2, ['POST /']]);
    expect(proxy.counters().authorizations).toEqual({ permitted: 1, denied: 0, failed: 0 });
  });

  test('the last response is passed on after the last try', async () => {
    const server = await startMoody(503);
    const { port, app } = await startRetrying(server.port, { retry: { ...once, attempts: 3 } });
    expect((await send(port, '/')).status).toBe(503);
    expect([server.asked.length, app.reached]).toEqual([4, []]);
  });

  test.each<[string, Partial<RouteRule>]>([
    ['without retries', {}],
    ['with attempts: 0', { retry: { ...once, attempts: 0 } }],
    ['another status', { retry: { ...once, codes: [500] } }],
  ])('a status is passed on at once: %s', async (_name, parts) => {
    const server = await startMoody(503, 200);
    const { port, app } = await startRetrying(server.port, parts);
    expect((await send(port, '/')).status).toBe(503);
    expect([server.asked.length, app.reached]).toEqual([1, []]);
  });

  test('failed connections are retried as often as allowed, at the same endpoint', async () => {
    const { port, log, proxy } = await startRetrying(await refusingPort(), {
      retry: { codes: [], attempts: 4, backoff: 1 },
    });
    expect((await send(port, '/')).status).toBe(503);
    await eventually(() => expect(log).toMatchObject([{ reason: 'authorization-unavailable' }]));
    expect(proxy.counters().authorizations).toEqual({ permitted: 0, denied: 0, failed: 1 });
  });

  test('attempts: 0 also excludes another endpoint', async () => {
    const server = await startServer();
    const { port, apply } = await startRetrying(server.port, { retry: { codes: [], attempts: 0 } });
    await apply(endpointsConfig('auth', await refusingPort(), server.port));
    const statuses = [(await send(port, '/')).status, (await send(port, '/')).status];
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 503]);
  });

  test('endpoints that are there by then are tried', async () => {
    const [sick, well] = [await startMoody(503), await startServer()];
    const { port, apply, app } = await startRetrying(sick.port, { retry: { ...once, backoff: 500 } });
    const answer = send(port, '/');
    await eventually(() => expect(sick.asked).toHaveLength(1));
    await apply(endpointsConfig('auth', well.port));
    expect((await answer).status).toBe(200);
    expect([sick.asked.length, well.asked.length, app.reached.length]).toEqual([1, 1, 1]);
  });

  test('the body is sent with each try', async () => {
    const server = await startMoody(503, 200);
    const app = await startApp();
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [authorizedBy('auth', { maxBody: 100 })],
      parts: { retry: once },
    });
    expect((await send(port, '/', { method: 'POST', body: 'hello' })).status).toBe(200);
    expect(server.asked.map(({ body }) => body)).toEqual(['hello', 'hello']);
  });
});

describe('timeouts of the rule apply to calls of the authorization server', () => {
  test.each([
    ['backendRequest is the time for a try: the next one follows', { ...once, codes: [] }, 200],
    ['without retries it ends the request', undefined, 504],
  ])('%s', async (_name, retry, status) => {
    let calls = 0;
    const server = await startBackend((_request, response) => {
      calls += 1;
      if (calls > 1) response.end();
    });
    const parts = { backendRequestTimeout: 50, ...(retry === undefined ? {} : { retry }) };
    const { port, app } = await startRetrying(server.port, parts);
    expect((await send(port, '/', { method: 'POST', body: 'b' })).status).toBe(status);
    expect(app.reached).toHaveLength(status === 200 ? 1 : 0);
  });

  test('the time for the request ends it in the middle of a pause', async () => {
    const server = await startMoody(503);
    const { port, log, app } = await startRetrying(server.port, {
      retry: { ...once, backoff: 60_000 },
      requestTimeout: 50,
    });
    expect((await send(port, '/')).status).toBe(504);
    await eventually(() => expect(log).toMatchObject([{ reason: 'request-timeout' }]));
    expect(app.reached).toEqual([]);
  });
});
