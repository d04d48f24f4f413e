import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ConfigResource, RetryBudget, Session } from '../../../src/core/routing/config.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { startApp, startAuthorized, startServer } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { backendOf, closeProxies, prefixRule, routeTo, send, startProxy, webRoute } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const retry = { codes: [500], attempts: 3, backoff: 1 };
const budget: RetryBudget = {
  backend: 'shop/app',
  percent: 20,
  interval: 10_000,
  minimum: { count: 1, interval: 1_000 },
};

/** A backend that always fails under `/fail`, and the number of its requests there. */
async function startFailing() {
  const seen = { failed: 0 };
  const { port } = await startBackend((request, response) => {
    const fails = request.url?.startsWith('/fail') === true;
    if (fails) seen.failed += 1;
    response.writeHead(fails ? 500 : 200).end('from the backend');
  });
  return { port, seen };
}

/** A data plane whose clock stands still until it is moved. */
function startWith(...resources: readonly ConfigResource[]) {
  return startLimited({}, ...resources);
}

async function startLimited(limits: Partial<ProxyLimits>, ...resources: readonly ConfigResource[]) {
  const clock = { now: 0 };
  return { ...(await startProxy(resources, { now: () => clock.now, limits })), clock };
}

async function sendMany(port: number, path: string, count: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await send(port, path)).status);
  return statuses;
}

describe('a retry budget', () => {
  test('limits retries to a share of the requests, refuses others with 503, and rolls on', async () => {
    const backend = await startFailing();
    const { port, proxy, clock } = await startWith(
      { ...endpointsConfig('app', backend.port), retryBudget: budget },
      routeTo('app', { retry }),
    );
    await sendMany(port, '/fine', 39);
    // 40 requests permit 10 retries: three requests are tried four times each; the fourth is retried once.
    expect(await sendMany(port, '/fail', 1)).toEqual([500]);
    expect(await sendMany(port, '/fail', 3)).toEqual([500, 500, 503]);
    expect(backend.seen.failed).toBe(14);
    const refused = await send(port, '/fail');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(proxy.counters().reasons['retry-budget-exceeded']).toBe(2);
    expect(proxy.counters().limitsReached['retry-budget']).toBe(2);
    // Only the minimum rate is left once all those requests are forgotten.
    clock.now += 10_000;
    backend.seen.failed = 0;
    expect(await sendMany(port, '/fail', 1)).toEqual([503]);
    expect(backend.seen.failed).toBe(2);
  });

  test('is shared by the ports and routes of a backend, but not with other backends', async () => {
    const backend = await startFailing();
    const second = { ...endpointsConfig('app', backend.port), key: 'endpoints/shop/app/81' as const };
    const { port } = await startWith(
      { ...endpointsConfig('app', backend.port), retryBudget: { ...budget, percent: 0 } },
      { ...second, retryBudget: { ...budget, percent: 0 } },
      endpointsConfig('other', backend.port),
      webRoute(
        { ...prefixRule('/fail/a', []), retry: { ...retry, attempts: 1 } },
        {
          ...prefixRule('/fail/b', []),
          index: 1,
          retry: { ...retry, attempts: 1 },
          backends: [{ weight: 1, target: { type: 'endpoints', key: second.key }, filters: [] }],
        },
        {
          ...prefixRule('/fail/c', []),
          index: 2,
          retry: { ...retry, attempts: 1 },
          backends: [backendOf('other')],
        },
      ),
    );
    expect(await sendMany(port, '/fail/a', 1)).toEqual([500]);
    expect(await sendMany(port, '/fail/b', 1)).toEqual([503]);
    expect(await sendMany(port, '/fail/c', 3)).toEqual([500, 500, 500]);
  });

  test('counts retries of failed connections, which need no retry stanza', async () => {
    const [gone, echo] = [await refusingPort(), await startEcho('app')];
    const { port, clock, apply } = await startWith(
      { ...endpointsConfig('app', gone, echo.port), retryBudget: { ...budget, percent: 0 } },
      routeTo('app'),
    );
    expect(await sendMany(port, '/', 1)).toEqual([200]);
    // Another set of endpoints forgets that the first one is suspended; the budget stays the same.
    const other = await refusingPort();
    await apply({ ...endpointsConfig('app', other, echo.port), retryBudget: { ...budget, percent: 0 } });
    expect(await sendMany(port, '/', 1)).toEqual([503]);
    clock.now += 1_000;
    const third = await refusingPort();
    await apply({ ...endpointsConfig('app', third, echo.port), retryBudget: { ...budget, percent: 0 } });
    expect(await sendMany(port, '/', 1)).toEqual([200]);
  });

  test('is not charged for a failed connection if no other endpoint and no retry is left', async () => {
    const gone = await refusingPort();
    const echo = await startEcho('app');
    const terms = { ...budget, percent: 0 };
    const { port, proxy, apply } = await startWith(
      { ...endpointsConfig('app', gone), retryBudget: terms },
      routeTo('app'),
    );
    expect(await sendMany(port, '/', 3)).toEqual([503, 503, 503]);
    expect(proxy.counters().reasons).toMatchObject({ 'connect-failed': 3, 'retry-budget-exceeded': 0 });
    // The one retry of the minimum rate is still available.
    await apply({ ...endpointsConfig('app', await refusingPort(), echo.port), retryBudget: terms });
    expect(await sendMany(port, '/', 1)).toEqual([200]);
  });

  test('is not charged for a retry that exceeds the limit of the proxy', async () => {
    const backend = await startFailing();
    const echo = await startEcho('app');
    const terms = { ...budget, percent: 0 };
    const { port, proxy, apply } = await startLimited(
      { retries: 0 },
      { ...endpointsConfig('app', backend.port), retryBudget: terms },
      routeTo('app', { retry }),
    );
    expect(await sendMany(port, '/fail', 2)).toEqual([503, 503]);
    expect(proxy.counters().reasons).toMatchObject({ 'backend-busy': 2, 'retry-budget-exceeded': 0 });
    // The one retry of the minimum rate is still available.
    await apply({ ...endpointsConfig('app', await refusingPort(), echo.port), retryBudget: terms });
    expect(await sendMany(port, '/', 1)).toEqual([200]);
  });

  test('limits the retries of calls of an authorization server', async () => {
    const [app, server] = [await startApp(), await startServer(() => ({ status: 500 }))];
    const { port, proxy } = await startAuthorized(app.port, undefined, {
      parts: { retry },
      resources: [{ ...endpointsConfig('auth', server.port), retryBudget: { ...budget, backend: 'shop/auth' } }],
    });
    expect(await sendMany(port, '/', 1)).toEqual([503]);
    expect([server.asked.length, app.reached]).toEqual([2, []]);
    expect(proxy.counters().reasons['retry-budget-exceeded']).toBe(1);
  });

  test('does not apply without retryConstraint', async () => {
    const backend = await startFailing();
    const { port } = await startWith(endpointsConfig('app', backend.port), routeTo('app', { retry }));
    expect(await sendMany(port, '/fail', 5)).toEqual([500, 500, 500, 500, 500]);
    expect(backend.seen.failed).toBe(20);
  });
});

describe('the session persistence of a backend', () => {
  const keys = [{ id: '00000001', secret: randomBytes(32).toString('base64url'), from: 0 }];
  const session = (rule: string): Session => ({
    type: 'cookie',
    identity: 'XBackendTrafficPolicy/shop/app',
    rule,
    name: 'app',
    path: '/',
    permanent: false,
  });

  async function backendAt(port: number, path: string, cookie: string) {
    const { headers, body } = await send(port, path, { headers: { cookie } });
    const { backend } = JSON.parse(body) as { readonly backend: string };
    return { backend, cookie: headers['set-cookie']?.[0]?.split(';')[0] };
  }

  test('rules do not share sessions, but one cookie keeps those of several rules', async () => {
    const ports = (await Promise.all(['a', 'b', 'c'].map((name) => startEcho(name)))).map(({ port }) => port);
    const rules = ['/one', '/two'].map((path, index) => ({
      ...prefixRule(path, []),
      index,
      backends: [backendOf('app', { session: session(`HTTPRoute/shop/web ${index}`) })],
    }));
    const { port, proxy } = await startProxy([endpointsConfig('app', ...ports), webRoute(...rules)]);
    proxy.setSessionKeys(keys);
    const one = await backendAt(port, '/one', '');
    const two = await backendAt(port, '/two', one.cookie ?? '');
    // The second rule starts a session of its own, at the next endpoint in turn.
    expect(two.backend).not.toBe(one.backend);
    for (let turn = 0; turn < 4; turn += 1) {
      expect(await backendAt(port, '/one', two.cookie ?? '')).toEqual({ backend: one.backend, cookie: undefined });
      expect(await backendAt(port, '/two', two.cookie ?? '')).toEqual({ backend: two.backend, cookie: undefined });
    }
  });
});
