import { afterEach, describe, expect, test } from '@jest/globals';
import { signTrace, traceField, traceKeyOf } from '../../../src/channel/trace.ts';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import {
  backendOf,
  closeProxies,
  echoed,
  fieldValues,
  routeTo,
  send,
  startProxy,
  startProxyTo,
  web,
} from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const key = traceKeyOf('secret', 'shop/web');
const host = 'shop.example';

function signed(path: string, method = 'GET', by = key): string {
  const [pathname = '', query] = path.split('?');
  const search = query === undefined ? '' : `?${query}`;
  return signTrace(by, { method, host, path: pathname, search }, Date.now());
}

function headers(trace: string) {
  return { headers: { host, 'Sallyport-Trace': trace } };
}

async function reported(port: number, path: string): Promise<unknown> {
  const { headers: answered } = await send(port, path, headers(signed(path)));
  return JSON.parse(String(answered['sallyport-trace']));
}

describe('a signed trace', () => {
  test('gets the decision of the data plane, once, and no backend sees it', async () => {
    const backend = await startEcho();
    const { port, proxy } = await startProxyTo(backend.port);
    proxy.setTraceKey(key);
    const trace = signed('/cart?a=1');
    const first = await send(port, '/cart?a=1', headers(trace));
    expect(JSON.parse(String(first.headers['sallyport-trace']))).toEqual({
      listener: web.key,
      listenerGeneration: web.generation,
      route: 'HTTPRoute/shop/web',
      routeGeneration: expect.any(Number),
      rule: 0,
      match: 0,
      backend: 'shop/app/80',
      upstream: `127.0.0.1:${backend.port}`,
    });
    expect(fieldValues(JSON.parse(first.body), 'sallyport-trace')).toEqual([]);
    const again = await send(port, '/cart?a=1', headers(trace));
    expect(again.status).toBe(200);
    expect(again.headers).not.toHaveProperty('sallyport-trace');
  });

  test('gets the reason of an answer of the proxy', async () => {
    const { port, proxy, apply } = await startProxy([]);
    proxy.setTraceKey(key);
    expect(await reported(port, '/')).toEqual({
      listener: web.key,
      listenerGeneration: web.generation,
      reason: 'no-route',
    });
    await apply({ ...routeTo('app'), rules: [{ ...routeTo('app').rules[0]!, backends: [] }] });
    expect(await reported(port, '/')).toMatchObject({ route: 'HTTPRoute/shop/web', rule: 0, reason: 'no-backend' });
  });

  test('works over HTTP/2', async () => {
    const backend = await startEcho();
    const { port, proxy } = await startProxyTo(backend.port);
    proxy.setTraceKey(key);
    const fields = { ':authority': host, ':path': '/cart', 'sallyport-trace': signed('/cart') };
    const answer = await request(openHttp2(port), fields);
    expect(JSON.parse(String(answer.headers['sallyport-trace']))).toMatchObject({ backend: 'shop/app/80' });
  });
});

describe('clients without a signature', () => {
  test.each([
    ['a wrong key', () => signed('/', 'GET', traceKeyOf('guess', 'shop/web'))],
    ['another method', () => signed('/', 'POST')],
    ['any text', () => '1'],
  ])('see nothing, and cannot send a trace to a backend: %s', async (_name, trace) => {
    const backend = await startEcho();
    const { port, proxy } = await startProxyTo(backend.port);
    for (const configured of [undefined, key]) {
      proxy.setTraceKey(configured);
      const { headers: answered } = await send(port, '/', headers(trace()));
      expect(answered).not.toHaveProperty('sallyport-trace');
      expect(fieldValues(await echoed(port, '/', headers(trace())), 'sallyport-trace')).toEqual([]);
    }
  });

  test('get no report that a backend made up', async () => {
    const backend = await startBackend((_request, response) => {
      response.writeHead(200, { 'Sallyport-Trace': '{"rule":9}' }).end();
    });
    const { port, proxy } = await startProxy([
      endpointsConfig('app', backend.port),
      { ...routeTo('app'), rules: [{ ...routeTo('app').rules[0]!, backends: [backendOf('app')] }] },
    ]);
    expect((await send(port, '/')).headers).not.toHaveProperty('sallyport-trace');
    proxy.setTraceKey(key);
    expect(await reported(port, '/')).toMatchObject({ rule: 0 });
  });

  test('get their report although a filter of the route sets the field', async () => {
    const { port, proxy } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      routeTo('app', {
        filters: [{ type: 'responseHeaders', set: [], add: [{ name: traceField, value: '{}' }], remove: [] }],
      }),
    ]);
    proxy.setTraceKey(key);
    expect(await reported(port, '/')).toMatchObject({ rule: 0 });
  });
});
