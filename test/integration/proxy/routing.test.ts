import { afterEach, describe, expect, test } from '@jest/globals';
import type { HeaderFilter, RouteFilter } from '../../../src/core/routing/config.ts';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import {
  backendOf,
  closeProxies,
  echoed,
  fieldValues,
  prefixRule,
  routeTo,
  send,
  sendRaw,
  startProxy,
  web,
  webRoute,
} from '../../support/proxy.ts';
import { routeConfig, routeMatch, routeRule } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

describe('which route serves a request', () => {
  test('the path with its query reaches the backend, normalised', async () => {
    const { port } = await startProxy([endpointsConfig('app', (await startEcho()).port), routeTo('app')]);
    expect((await echoed(port, '/a/./b/%7euser?q=%2F&q=2')).target).toBe('/a/b/~user?q=%2F&q=2');
  });

  test('404 without a match, with a body for people and the server named', async () => {
    const { port, log } = await startProxy([webRoute(prefixRule('/shop', []))]);
    const answer = await send(port, '/other');
    expect(answer.status).toBe(404);
    expect(answer.headers).toMatchObject({ server: 'sallyport', 'content-type': 'text/plain; charset=utf-8' });
    expect(answer.body).toBe('404 Not Found\nNo route matches this request.\n');
    expect(log).toEqual([
      expect.objectContaining({ status: 404, reason: 'no-route', path: '/other', listener: web.key }),
    ]);
  });

  test('method, header and query conditions see the request', async () => {
    const match = routeMatch({
      method: 'PUT',
      headers: [{ name: 'x-tenant', type: 'Exact', value: 'a, b' }],
      query: [{ name: 'Size', type: 'Exact', value: 'x l' }],
    });
    const { port } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      webRoute({ ...routeRule(0, match), backends: [backendOf('app')] }),
    ]);
    const headers = { 'X-Tenant': ['a', 'b'] };
    expect((await send(port, '/?Size=x+l&Size=s', { method: 'PUT', headers })).status).toBe(200);
    expect((await send(port, '/?size=x+l', { method: 'PUT', headers })).status).toBe(404);
    expect((await send(port, '/?Size=x+l', { headers })).status).toBe(404);
    expect((await send(port, '/?Size=x+l', { method: 'PUT', headers: { 'X-Tenant': 'a' } })).status).toBe(404);
  });

  test('header names that JavaScript objects inherit are just names', async () => {
    const match = routeMatch({ headers: [{ name: 'constructor', type: 'RegularExpression', value: '.*' }] });
    const { port } = await startProxy([webRoute({ ...routeRule(0, match), backends: [] })]);
    expect((await send(port, '/')).status).toBe(404);
    expect((await send(port, '/', { headers: { constructor: 'x' } })).status).toBe(500);
  });

  test('the most specific listener of a port serves a host alone', async () => {
    const wildcard = listenerConfig('wildcard', { hostname: '*.example.com' });
    const exact = listenerConfig('exact', { hostname: 'shop.example.com' });
    const on = (listener: string, service: string) =>
      routeConfig(`shop/${service}`, {
        key: `route/shop/${service}`,
        attachments: [{ listener, hostnames: [''] }],
        rules: [
          {
            ...routeRule(0, routeMatch({ path: { type: 'PathPrefix', value: `/${service}` } })),
            backends: [backendOf('app')],
          },
        ],
      });
    const { port, apply } = await startProxy([
      wildcard,
      exact,
      endpointsConfig('app', (await startEcho()).port),
      on(web.key, 'any'),
      on(wildcard.key, 'wild'),
      on(exact.key, 'exact'),
    ]);
    const status = async (host: string, path: string) => (await send(port, path, { headers: { host } })).status;
    expect(await status('shop.example.com:8080', '/exact')).toBe(200);
    expect(await status('SHOP.example.com.', '/exact')).toBe(200);
    // Its routes do not match, and the broader listeners are not asked.
    expect(await status('shop.example.com', '/wild')).toBe(404);
    expect(await status('a.b.example.com', '/wild')).toBe(200);
    expect(await status('a.b.example.com', '/any')).toBe(404);
    expect(await status('example.com', '/any')).toBe(200);
    expect(await apply(exact)).toEqual([]);
  });

  test('no listener for a host: 404', async () => {
    const { port, apply, log } = await startProxy([routeTo('app')]);
    await apply({ ...web, hostname: 'shop.example.com' });
    expect((await send(port, '/', { headers: { host: 'other.example.com' } })).status).toBe(404);
    expect(log).toEqual([expect.objectContaining({ reason: 'no-listener', host: 'other.example.com' })]);
  });
});

describe('filters', () => {
  const headers = (type: HeaderFilter['type'], parts: Partial<HeaderFilter>): HeaderFilter => ({
    type,
    set: [],
    add: [],
    remove: [],
    ...parts,
  });

  test('request headers are set, added and removed, ignoring case; the backend filter comes last', async () => {
    const ofRule = headers('requestHeaders', {
      set: [{ name: 'X-Set', value: 'rule' }],
      add: [{ name: 'x-added', value: 'rule' }],
      remove: ['X-GONE'],
    });
    const ofBackend = headers('requestHeaders', { add: [{ name: 'X-Set', value: 'backend' }] });
    const { port } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      routeTo('app', { filters: [ofRule], backends: [backendOf('app', { filters: [ofBackend] })] }),
    ]);
    const seen = await echoed(port, '/', {
      headers: { 'x-set': 'client', 'X-Added': 'client', 'x-gone': 'client', 'x-kept': 'client' },
    });
    expect(fieldValues(seen, 'x-set')).toEqual(['rule', 'backend']);
    expect(fieldValues(seen, 'x-added')).toEqual(['client', 'rule']);
    expect(fieldValues(seen, 'x-gone')).toEqual([]);
    expect(fieldValues(seen, 'x-kept')).toEqual(['client']);
  });

  test('response headers too', async () => {
    const backend = await startBackend((_request, response) => {
      response.writeHead(200, ['X-Set', 'backend', 'X-Gone', '1', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end('ok');
    });
    const filter = headers('responseHeaders', {
      set: [{ name: 'x-set', value: 'rule' }],
      add: [{ name: 'Set-Cookie', value: 'c=3' }],
      remove: ['x-gone'],
    });
    const { port } = await startProxy([endpointsConfig('app', backend.port), routeTo('app', { filters: [filter] })]);
    const answer = await send(port, '/');
    expect(answer.headers).toMatchObject({ 'x-set': 'rule', 'set-cookie': ['a=1', 'b=2', 'c=3'] });
    expect(answer.headers).not.toHaveProperty('x-gone');
  });

  test('filters cannot break framing or smuggle a line', async () => {
    const filter = headers('requestHeaders', {
      set: [
        { name: 'Content-Length', value: '3' },
        { name: 'Transfer-Encoding', value: 'gzip' },
        { name: 'x-split', value: 'a\r\nx-evil: 1' },
        { name: 'x-wide', value: 'ü€' },
      ],
      remove: ['Host', 'content-length'],
    });
    const { port } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      routeTo('app', { filters: [filter] }),
    ]);
    const seen = await echoed(port, '/', { method: 'POST', body: 'whole body', headers: { host: 'shop' } });
    expect(seen.body).toBe('whole body');
    expect(fieldValues(seen, 'host')).toEqual(['shop']);
    expect(fieldValues(seen, 'x-split')).toEqual(['ax-evil: 1']);
    expect(Buffer.from(fieldValues(seen, 'x-wide')[0] ?? '', 'latin1').toString()).toBe('ü€');
  });

  test('URLRewrite replaces host and path and leaves the query', async () => {
    const full: RouteFilter = {
      type: 'rewrite',
      hostname: 'inner.example',
      path: { type: 'full', value: '/new path' },
    };
    const prefix: RouteFilter = { type: 'rewrite', path: { type: 'prefix', value: '/v2/' } };
    const { port } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      webRoute({ ...prefixRule('/full', [full]), index: 0 }, { ...prefixRule('/api', [prefix]), index: 1 }),
    ]);
    const rewritten = await echoed(port, '/full/x?a=1', { headers: { host: 'shop.example' } });
    expect(rewritten.target).toBe('/new%20path?a=1');
    expect(fieldValues(rewritten, 'host')).toEqual(['inner.example']);
    expect(fieldValues(rewritten, 'x-forwarded-host')).toEqual(['shop.example']);
    expect((await echoed(port, '/api/cart?a=1')).target).toBe('/v2/cart?a=1');
    expect((await echoed(port, '/api')).target).toBe('/v2');
  });

  test.each([301, 302, 303, 307, 308])('RequestRedirect answers %i without asking a backend', async (statusCode) => {
    const redirect: RouteFilter = {
      type: 'redirect',
      scheme: 'https',
      hostname: 'new.example',
      path: { type: 'prefix', value: '/b' },
      statusCode,
    };
    const { port, log } = await startProxy([webRoute(prefixRule('/a', [redirect], { backends: [] }))]);
    const answer = await send(port, '/a/x?q=1');
    expect(answer).toMatchObject({ status: statusCode, body: '' });
    expect(answer.headers).toMatchObject({ location: 'https://new.example/b/x?q=1', server: 'sallyport' });
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('RequestRedirect of an HTTP/1.0 request without Host never leads to a host that the path names', async () => {
    const { port } = await startProxy([
      webRoute(prefixRule('/', [{ type: 'redirect', statusCode: 302 }], { backends: [] })),
    ]);
    expect(await sendRaw(port, 'GET //evil.example/x HTTP/1.0\r\n\r\n')).toMatch(
      /^location: \/\.\/\/evil\.example\/x\r$/im,
    );
  });
});

describe('backends', () => {
  test('weights are exact over any run that they divide; zero gets nothing, invalid ones their share as 500', async () => {
    const { port } = await startProxy([
      endpointsConfig('a', (await startEcho('a')).port),
      endpointsConfig('b', (await startEcho('b')).port),
      endpointsConfig('zero', (await startEcho('zero')).port),
      routeTo('a', {
        backends: [
          backendOf('a', { weight: 5 }),
          backendOf('b', { weight: 3 }),
          backendOf('zero', { weight: 0 }),
          backendOf('a', { weight: 2, target: { type: 'invalid', reason: 'no such Service' } }),
        ],
      }),
    ]);
    const seen: Record<string, number> = {};
    for (let batch = 0; batch < 10; batch += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(port, '/')));
      for (const { status, body } of answers) {
        const name = status === 200 ? (JSON.parse(body) as { backend: string }).backend : String(status);
        seen[name] = (seen[name] ?? 0) + 1;
      }
    }
    expect(seen).toEqual({ a: 50, b: 30, 500: 20 });
  });

  test('a change that leaves the weights alone does not begin the round again', async () => {
    const route = routeTo('a', { backends: [backendOf('a', { weight: 3 }), backendOf('b', { weight: 1 })] });
    const { port, apply } = await startProxy([
      endpointsConfig('a', (await startEcho('a')).port),
      endpointsConfig('b', (await startEcho('b')).port),
      route,
    ]);
    const names: string[] = [];
    for (let request = 0; request < 8; request += 1) {
      names.push((await echoed(port, '/')).backend);
      await apply({ ...route, generation: request + 2 });
    }
    expect(names.filter((name) => name === 'b')).toHaveLength(2);
  });

  test.each([
    ['every weight is zero', { backends: [backendOf('app', { weight: 0 })] }, 500, 'no-backend'],
    ['there is no backend', { backends: [] }, 500, 'no-backend'],
    [
      'the backend is invalid',
      { backends: [backendOf('app', { target: { type: 'invalid', reason: 'x' } })] },
      500,
      'invalid-backend',
    ],
    ['the rule failed', { failure: 'a filter that does not exist' }, 500, 'rule-failure'],
    ['the Service has no endpoints', {}, 503, 'no-endpoints'],
    ['the Service is not known', { backends: [backendOf('unknown')] }, 503, 'no-endpoints'],
  ] as const)('where %s', async (_name, parts, status, reason) => {
    const { port, log } = await startProxy([endpointsConfig('app'), routeTo('app', parts)]);
    expect((await send(port, '/')).status).toBe(status);
    expect(log).toEqual([expect.objectContaining({ status, reason, route: 'HTTPRoute/shop/web', rule: 0 })]);
  });

  test('endpoints are taken in turn and connections are kept', async () => {
    const [one, two] = [await startEcho('one'), await startEcho('two')];
    const { port } = await startProxy([endpointsConfig('app', one.port, two.port), routeTo('app')]);
    const names: string[] = [];
    for (let request = 0; request < 6; request += 1) names.push((await echoed(port, '/')).backend);
    expect(names).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
    expect([one.connections(), two.connections()]).toEqual([1, 1]);
  });
});
