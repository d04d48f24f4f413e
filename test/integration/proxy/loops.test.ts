import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteFilter } from '../../../src/core/routing/config.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, echoed, fieldValues, prefixRule, send, startProxy, webRoute } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const removeVia: RouteFilter = { type: 'requestHeaders', set: [], add: [], remove: ['via'] };
const replaceVia: RouteFilter = {
  type: 'requestHeaders',
  set: [{ name: 'Via', value: '1.1 other' }],
  add: [],
  remove: [],
};

/** A proxy with a route whose backend `app` is the proxy itself. */
async function startLoop(filters: readonly RouteFilter[]): Promise<ProxyUnderTest> {
  const started = await startProxy([webRoute(prefixRule('/', filters))]);
  await started.apply(endpointsConfig('app', started.port));
  return started;
}

describe('a route that leads back to the proxy', () => {
  test.each([
    ['no filter', []],
    ['a filter that removes Via', [removeVia]],
    ['a filter that replaces Via', [replaceVia]],
  ])('%s: the ninth pass gets 508', async (_name, filters) => {
    const { port, proxy } = await startLoop(filters);
    expect(await send(port, '/')).toMatchObject({ status: 508 });
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, requests: 9 }));
  });

  test('mirrors to the proxy itself do not multiply without end', async () => {
    const mirror: RouteFilter = {
      type: 'mirror',
      target: { type: 'endpoints', key: endpointsConfig('self').key },
      numerator: 1,
      denominator: 1,
    };
    const started = await startProxy(
      [
        webRoute(
          prefixRule(
            '/',
            Array.from({ length: 16 }, () => mirror),
          ),
        ),
      ],
      { limits: { mirrors: 1_024 } },
    );
    const app = await startEcho('app');
    await started.apply(endpointsConfig('app', app.port), endpointsConfig('self', started.port));
    expect(await send(started.port, '/')).toMatchObject({ status: 200 });
    // The request, 16 copies, and 16 copies of each of them, which get 508.
    await eventually(() =>
      expect(started.proxy.counters()).toMatchObject({ openRequests: 0, requests: 1 + 16 + 16 * 16 }),
    );
  });
});

test('a chain of several Gateways is no loop', async () => {
  const app = await startEcho('app');
  let { port } = app;
  for (let hop = 0; hop < 8; hop += 1)
    ({ port } = await startProxy([endpointsConfig('app', port), webRoute(prefixRule('/', []))]));
  const seen = await echoed(port, '/');
  expect(fieldValues(seen, 'via')).toEqual([
    '1.1 sallyport',
    ...[2, 3, 4, 5, 6, 7, 8].map((hop) => `1.1 sallyport (hop ${hop})`),
  ]);
});
