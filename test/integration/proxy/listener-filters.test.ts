import { afterEach, describe, expect, test } from '@jest/globals';
import type { AuthorizationFilter, ConfigResource, RouteFilter, RouteRule } from '../../../src/core/routing/config.ts';
import { authorizedBy, startApp, startServer } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startEcho, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import {
  closeProxies,
  echoed,
  fieldValues,
  prefixRule,
  routeTo,
  send,
  startProxy,
  throwFault,
  webRoute,
} from '../../support/proxy.ts';
import { routeMatch } from '../../support/routes.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

interface Guarded {
  readonly filters?: readonly AuthorizationFilter[];
  readonly rules?: readonly RouteRule[];
  readonly resources?: readonly ConfigResource[];
}

/** A proxy whose listener `web` has filters; a request to the Service `app` must pass them first. */
async function startGuarded(
  app: number,
  servers: Readonly<Record<string, number>>,
  { filters = [authorizedBy('auth')], rules = [prefixRule('/', [])], resources = [] }: Guarded = {},
) {
  const endpoints = Object.entries(servers).map(([service, port]) => endpointsConfig(service, port));
  return startProxy(
    [listenerConfig('web', { filters }), endpointsConfig('app', app), ...endpoints, ...resources, webRoute(...rules)],
    { onFault: throwFault },
  );
}

/** A filter that sets a request header. */
function setting(name: string, value: string): RouteFilter {
  return { type: 'requestHeaders', set: [{ name, value }], add: [], remove: [] };
}

describe('filters of a listener', () => {
  test('a permitted request is routed once, and the server is asked about it as the client sent it', async () => {
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port, proxy, log } = await startGuarded(app.port, { auth: server.port });
    const headers = { host: 'shop.example.com', authorization: 'Bearer t', 'x-other': '1' };
    expect(await echoed(port, '/a?b=c', { method: 'PUT', headers, body: 'hello' })).toMatchObject({
      backend: 'app',
      target: '/a?b=c',
      body: 'hello',
    });
    expect(server.asked).toMatchObject([{ method: 'PUT', target: '/a?b=c', body: '' }]);
    expect(fieldValues(server.asked[0] ?? { fields: [] }, 'authorization')).toEqual(['Bearer t']);
    expect(fieldValues(server.asked[0] ?? { fields: [] }, 'x-other')).toEqual([]);
    expect(proxy.counters().authorizations).toEqual({ permitted: 1, denied: 0, failed: 0 });
    await eventually(() => expect(log).toMatchObject([{ status: 200, backend: 'shop/app/80' }]));
  });

  test('they run in order, and a denial ends everything: no later filter, no match, no backend', async () => {
    const order: string[] = [];
    const named = (name: string, status: number) =>
      startServer(() => {
        order.push(name);
        return {
          status,
          headers: { 'www-authenticate': `Basic realm=${name}`, 'set-cookie': ['a=1', 'b=2'] },
          body: name,
        };
      });
    const [first, second, third, app] = [
      await named('first', 200),
      await named('second', 401),
      await named('third', 200),
      await startApp(),
    ];
    const { port, log } = await startGuarded(
      app.port,
      { first: first.port, second: second.port, third: third.port },
      { filters: [authorizedBy('first'), authorizedBy('second'), authorizedBy('third')] },
    );
    const answer = await send(port, '/');
    expect(answer).toMatchObject({ status: 401, body: 'second' });
    expect([answer.headers['www-authenticate'], answer.headers['set-cookie']]).toEqual([
      'Basic realm=second',
      ['a=1', 'b=2'],
    ]);
    expect([order, app.reached]).toEqual([['first', 'second'], []]);
    await eventually(() => expect(log).toMatchObject([{ status: 401, reason: 'authorization-denied' }]));
    expect(log[0]).not.toHaveProperty('route');
  });

  test('they run where no route matches, where a rule fails, redirects or answers a preflight, and for OPTIONS *', async () => {
    let status = 403;
    const server = await startServer(() => ({ status }));
    const { port } = await startGuarded(
      1,
      { auth: server.port },
      {
        rules: [
          prefixRule('/fails', [], { failure: 'invalid' }),
          prefixRule('/moved', [{ type: 'redirect', statusCode: 302, hostname: 'other.example' }], { index: 1 }),
          prefixRule(
            '/cors',
            [
              {
                type: 'cors',
                allowOrigins: ['https://a.example'],
                allowCredentials: false,
                allowMethods: ['*'],
                allowHeaders: [],
                exposeHeaders: [],
                maxAge: 5,
              },
            ],
            { index: 2 },
          ),
        ],
      },
    );
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' },
    };
    const all = async (): Promise<number[]> => [
      (await send(port, '/none')).status,
      (await send(port, '/fails')).status,
      (await send(port, '/moved')).status,
      (await send(port, '/cors', preflight)).status,
      (await send(port, '*', { method: 'OPTIONS' })).status,
    ];
    expect(await all()).toEqual([403, 403, 403, 403, 403]);
    status = 200;
    expect(await all()).toEqual([404, 500, 302, 204, 204]);
    expect(server.asked).toHaveLength(10);
  });

  test('routes match the headers that a filter has set, and clients cannot forge or remove them', async () => {
    const server = await startServer(() => ({ status: 200, headers: { 'x-tier': 'gold', 'x-user': 'ann' } }));
    const [gold, plain] = [await startEcho('gold'), await startEcho('plain')];
    const { port } = await startGuarded(
      plain.port,
      { auth: server.port, gold: gold.port },
      {
        rules: [
          {
            ...prefixRule('/', []),
            matches: [routeMatch({ headers: [{ name: 'x-tier', type: 'Exact', value: 'gold' }] })],
            backends: [{ weight: 1, target: { type: 'endpoints', key: endpointsConfig('gold').key }, filters: [] }],
          },
          prefixRule('/', [], { index: 1 }),
        ],
      },
    );
    const seen = await echoed(port, '/', {
      headers: { 'x-tier': 'tin', 'x-user': 'mallory', connection: 'close, x-user, x-tier' },
    });
    expect(seen.backend).toBe('gold');
    expect([fieldValues(seen, 'x-tier'), fieldValues(seen, 'x-user')]).toEqual([['gold'], ['ann']]);
  });

  test('a later filter and the filters of the rule get the request as changed; Host and Via stay', async () => {
    const first = await startServer(() => ({
      status: 200,
      headers: { host: 'evil.example', 'x-user': 'ann', 'x-late': 'first', via: '1.1 other' },
    }));
    const [second, app] = [await startServer(), await startEcho('app')];
    const seen = ['x-user', 'via'];
    const { port } = await startGuarded(
      app.port,
      { first: first.port, second: second.port },
      {
        filters: [
          authorizedBy('first', { responseHeaders: ['x-user', 'x-late', 'via'] }),
          authorizedBy('second', { requestHeaders: seen, path: '/two' }),
        ],
        rules: [prefixRule('/', [setting('x-late', 'rule')])],
      },
    );
    const headers = { host: 'shop.example.com', 'x-user': 'mallory', via: '1.1 sallyport (hop 3)' };
    const echo = await echoed(port, '/a', { headers });
    const [asked = { fields: [], target: '' }] = second.asked;
    expect([asked.target, fieldValues(asked, 'x-user'), fieldValues(asked, 'host')]).toEqual([
      '/two/a',
      ['ann'],
      ['shop.example.com'],
    ]);
    expect([fieldValues(echo, 'host'), fieldValues(echo, 'x-user'), fieldValues(echo, 'x-late')]).toEqual([
      ['shop.example.com'],
      ['ann'],
      ['rule'],
    ]);
    // The hops of the client count, whatever the server answers.
    expect(fieldValues(echo, 'via').at(-1)).toBe('1.1 sallyport (hop 4)');
  });

  test('the same server at listener and rule is called twice', async () => {
    const [server, app] = [await startServer(), await startApp()];
    const { port, proxy } = await startGuarded(
      app.port,
      { auth: server.port },
      { rules: [prefixRule('/', [authorizedBy('auth')])] },
    );
    expect((await send(port, '/')).status).toBe(200);
    expect(server.asked).toHaveLength(2);
    expect(proxy.counters().authorizations).toEqual({ permitted: 2, denied: 0, failed: 0 });
  });

  test('a body that one server gets reaches the others, the server of the rule, and the backend', async () => {
    const [small, large, rule, app] = [
      await startServer(),
      await startServer(),
      await startServer(),
      await startEcho('app'),
    ];
    const { port } = await startGuarded(
      app.port,
      { small: small.port, large: large.port, rule: rule.port },
      {
        filters: [authorizedBy('large', { maxBody: 100 }), authorizedBy('small')],
        rules: [prefixRule('/', [authorizedBy('rule', { maxBody: 50 })])],
      },
    );
    const body = 'b'.repeat(40);
    expect(await echoed(port, '/', { method: 'POST', body })).toMatchObject({ body });
    expect([large, small, rule].map(({ asked }) => asked.map((one) => one.body))).toEqual([[body], [''], [body]]);
    const tooLarge = { method: 'POST', body: 'b'.repeat(60), headers: { 'transfer-encoding': 'chunked' } };
    expect((await send(port, '/', tooLarge)).status).toBe(413);
    expect([large, small, rule].map(({ asked }) => asked.length)).toEqual([2, 2, 1]);
  });

  test('a looping request gets 508 without a call', async () => {
    const [server, app] = [await startServer(), await startApp()];
    const { port } = await startGuarded(app.port, { auth: server.port });
    expect((await send(port, '/', { headers: { via: '1.1 sallyport (hop 8)' } })).status).toBe(508);
    expect([server.asked, app.reached]).toEqual([[], []]);
  });
});

describe('filters of a listener fail closed', () => {
  test.each<[string, AuthorizationFilter, number]>([
    ['the server has no endpoints', authorizedBy('nobody'), 503],
    ['no server accepts the connection', authorizedBy('auth'), 503],
    ['the reference is invalid', authorizedBy('auth', { target: { type: 'invalid', reason: 'absent' } }), 500],
  ])('%s', async (_name, filter, status) => {
    const app = await startApp();
    const { port } = await startGuarded(app.port, { auth: await refusingPort() }, { filters: [filter] });
    expect((await send(port, '/')).status).toBe(status);
    expect(app.reached).toEqual([]);
  });

  test('a listener that fails answers 500 to everything, and its hostname stays with it', async () => {
    const app = await startApp();
    const guarded = listenerConfig('guarded', { hostname: 'guarded.example.com', failure: 'no filter' });
    const { port, apply, log } = await startProxy([endpointsConfig('app', app.port), guarded, routeTo('app')], {
      onFault: throwFault,
      bind: () => [{ host: '127.0.0.1', port: 0 }],
    });
    const of = (host: string, path = '/', method = 'GET'): Promise<number> =>
      send(port, path, { method, headers: { host } }).then(({ status }) => status);
    expect([
      await of('guarded.example.com'),
      await of('guarded.example.com', '*', 'OPTIONS'),
      await of('open.example.com'),
    ]).toEqual([500, 500, 200]);
    await eventually(() => expect(log[0]).toMatchObject({ status: 500, reason: 'listener-failure' }));
    // Connections stay open when filters change.
    await apply(listenerConfig('guarded', { hostname: 'guarded.example.com' }));
    expect(await of('guarded.example.com')).toBe(404);
  });
});

describe('HTTP/2 and gRPC', () => {
  test('each request of an HTTP/2 connection passes the filters', async () => {
    const server = await startServer(({ target }) => ({ status: target === '/no' ? 403 : 200 }));
    const app = await startEcho('app');
    const { port } = await startGuarded(app.port, { auth: server.port });
    const session = openHttp2(port);
    const statuses = await Promise.all(
      ['/a', '/no', '/b'].map(async (path) => (await request(session, { ':path': path })).status),
    );
    expect(statuses).toEqual([200, 403, 200]);
    expect(server.asked).toHaveLength(3);
  });

  test('a call is authorized before it is routed; without a server it gets UNAVAILABLE', async () => {
    const server = await startServer();
    const { port: app } = await startHttp2Backend((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.resume().end();
    });
    const { port, apply } = await startGuarded(
      app,
      { auth: server.port },
      { resources: [{ ...routeTo('app'), key: 'route/GRPCRoute/shop/web', protocol: 'grpc' }], rules: [] },
    );
    const call = { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc', te: 'trailers' };
    const session = openHttp2(port);
    expect((await request(session, call, '')).trailers).toMatchObject({ 'grpc-status': '0' });
    expect(server.asked).toMatchObject([{ method: 'POST', target: '/a.B/C' }]);
    await apply(listenerConfig('web', { filters: [authorizedBy('nobody')] }));
    expect((await request(session, call, '')).headers).toMatchObject({ 'grpc-status': '14' });
  });
});
