import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { CorsFilter, RouteFilter, RouteRule } from '../../../src/core/routing/config.ts';
import { authorizedBy, startApp, startAuthorized, startServer } from '../../support/authorization.ts';
import {
  closeBackends,
  refusingPort,
  startBackend,
  startEcho,
  startHttp2Backend,
  startRawBackend,
} from '../../support/backends.ts';
import type { Echo } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2 } from '../../support/http2.ts';
import {
  backendOf,
  closeProxies,
  echoed,
  fieldValues,
  openRaw,
  prefixRule,
  receiveUntil,
  send,
  sendRaw,
  startProxy,
  throwFault,
  webRoute,
} from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

/** Names of fields in lower case, in alphabetical order. */
function namesOf({ fields }: Echo): string[] {
  return fields
    .filter((_, position) => position % 2 === 0)
    .map((name) => name.toLowerCase())
    .toSorted();
}

describe('a permitted request', () => {
  test('reaches the backend after the server has seen method, path, query, Host, length and Authorization, and nothing else', async () => {
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port, proxy, log } = await startAuthorized(app.port, server.port);
    const headers = {
      host: 'shop.example.com',
      authorization: 'Bearer t',
      cookie: 'a=b',
      'x-other': '1',
      'content-type': 'text/plain',
    };
    expect(await echoed(port, '/a/b?c=d', { method: 'PUT', headers, body: 'hello' })).toMatchObject({
      backend: 'app',
      method: 'PUT',
      target: '/a/b?c=d',
      body: 'hello',
    });
    const [asked] = server.asked;
    expect(asked).toMatchObject({ method: 'PUT', target: '/a/b?c=d', body: '' });
    expect(namesOf(asked as Echo)).toEqual(['authorization', 'connection', 'content-length', 'host', 'via']);
    expect([
      fieldValues(asked as Echo, 'host'),
      fieldValues(asked as Echo, 'authorization'),
      fieldValues(asked as Echo, 'content-length'),
    ]).toEqual([['shop.example.com'], ['Bearer t'], ['0']]);
    await eventually(() => expect(log).toHaveLength(1));
    expect(log[0]).toMatchObject({ status: 200, backend: 'shop/app/80' });
    expect(log[0]).not.toHaveProperty('reason');
    expect(proxy.counters().authorizations).toEqual({ permitted: 1, denied: 0, failed: 0 });
  });

  test.each(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s is asked about with one length of 0',
    async (method) => {
      const [server, app] = [await startServer(), await startApp()];
      const { port } = await startAuthorized(app.port, server.port);
      expect((await send(port, '/', { method })).status).toBe(200);
      expect(server.asked.map((asked) => [asked.method, fieldValues(asked, 'content-length')])).toEqual([
        [method, ['0']],
      ]);
    },
  );

  test('lets the server see the headers that the filter allows, in any case, but none of the connection', async () => {
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [
        authorizedBy('auth', { requestHeaders: ['X-Tenant', 'cookie', 'Connection', 'TE', 'X-Forwarded-For'] }),
      ],
    });
    await send(port, '/', {
      headers: { 'x-tenant': 'one', cookie: 'a=b', te: 'trailers', 'x-other': '1', 'x-forwarded-for': '192.0.2.1' },
    });
    const asked = server.asked[0] as Echo;
    expect(namesOf(asked)).toEqual([
      'connection',
      'content-length',
      'cookie',
      'host',
      'via',
      'x-forwarded-for',
      'x-tenant',
    ]);
    expect([fieldValues(asked, 'connection'), fieldValues(asked, 'x-forwarded-for')]).toEqual([
      ['keep-alive'],
      ['192.0.2.1, 127.0.0.1'],
    ]);
  });

  test('is asked about under the prefix of the filter', async () => {
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [authorizedBy('auth', { path: '/check/' })],
    });
    expect(await echoed(port, '/a?b=c')).toMatchObject({ target: '/a?b=c' });
    expect(server.asked.map(({ target }) => target)).toEqual(['/check/a?b=c']);
  });

  test('is asked about as the client sent it, whatever rewrites follow; header filters act in order', async () => {
    const [server, app] = [
      await startServer(() => ({ status: 200, headers: { 'x-user': 'ann', 'x-late': 'server' } })),
      await startEcho('app'),
    ];
    const set = (name: string, value: string): RouteFilter => ({
      type: 'requestHeaders',
      set: [{ name, value }],
      add: [],
      remove: [],
    });
    const filters: RouteFilter[] = [
      { type: 'rewrite', hostname: 'inner.example', path: { type: 'full', value: '/inner' } },
      set('x-user', 'filter'),
      authorizedBy('auth', { requestHeaders: ['x-user', 'x-late'] }),
      set('x-late', 'filter'),
    ];
    const { port } = await startAuthorized(app.port, server.port, { filters });
    const seen = await echoed(port, '/outer', {
      headers: { host: 'shop.example.com', 'x-user': 'mallory', 'x-late': 'mallory' },
    });
    const asked = server.asked[0] as Echo;
    expect([
      asked.target,
      fieldValues(asked, 'host'),
      fieldValues(asked, 'x-user'),
      fieldValues(asked, 'x-late'),
    ]).toEqual(['/outer', ['shop.example.com'], ['filter'], ['mallory']]);
    expect([seen.target, fieldValues(seen, 'host'), fieldValues(seen, 'x-user'), fieldValues(seen, 'x-late')]).toEqual([
      '/inner',
      ['inner.example'],
      ['ann'],
      ['filter'],
    ]);
  });

  test('gets all headers of the answer in place of its own, but not those that describe the answer', async () => {
    const headers = {
      'X-User': 'ann',
      'X-Groups': ['a', 'b'],
      'content-type': 'text/x-answer',
      host: 'evil.example',
      authority: 'evil.example',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
    };
    const [server, app] = [await startServer(() => ({ status: 200, headers, body: 'fine' })), await startEcho('app')];
    const { port } = await startAuthorized(app.port, server.port);
    const seen = await echoed(port, '/', {
      method: 'POST',
      body: '{}',
      headers: {
        host: 'shop.example.com',
        'x-user': 'mallory',
        'x-groups': 'root',
        'content-type': 'application/json',
        'x-other': '1',
      },
    });
    const values = [
      'x-user',
      'x-groups',
      'content-type',
      'host',
      'authority',
      'x-hop',
      'x-other',
      'content-length',
    ].map((name) => fieldValues(seen, name));
    expect(values).toEqual([['ann'], ['a', 'b'], ['application/json'], ['shop.example.com'], [], [], ['1'], ['2']]);
  });

  test('gets the allowed headers of the answer alone, and keeps none of its own under their names', async () => {
    const [server, app] = [
      await startServer(() => ({ status: 200, headers: { 'X-User': 'ann', 'x-secret': '1' } })),
      await startEcho('app'),
    ];
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [authorizedBy('auth', { responseHeaders: ['x-user', 'X-Role', 'Host'] })],
    });
    const seen = await echoed(port, '/', {
      headers: { host: 'shop.example.com', 'x-user': 'mallory', 'x-role': 'admin', 'x-secret': 'own' },
    });
    expect(['x-user', 'x-role', 'x-secret', 'host'].map((name) => fieldValues(seen, name))).toEqual([
      ['ann'],
      [],
      ['own'],
      ['shop.example.com'],
    ]);
  });

  test('is redirected only then', async () => {
    const server = await startServer(({ fields }) => ({
      status: fieldValues({ fields }, 'authorization').length > 0 ? 200 : 401,
    }));
    const { port } = await startAuthorized(1, server.port, {
      filters: [authorizedBy('auth'), { type: 'redirect', statusCode: 302, hostname: 'other.example' }],
      parts: { backends: [] },
    });
    expect((await send(port, '/')).status).toBe(401);
    expect(await send(port, '/', { headers: { authorization: 'x' } })).toMatchObject({
      status: 302,
      headers: { location: 'http://other.example/' },
    });
  });

  test('may be a WebSocket', async () => {
    const server = await startServer(({ target }) => ({
      status: target === '/denied' ? 403 : 200,
      headers: { 'x-user': 'ann' },
    }));
    const app = createServer().on('upgrade', (request, socket) => {
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhello ${String(request.headers['x-user'])}`,
      );
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    const { port } = await startAuthorized((app.address() as { readonly port: number }).port, server.port);
    const ask = (path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
    const socket = openRaw(port);
    const greeting = receiveUntil(socket, 'hello ann');
    socket.write(ask('/'));
    await greeting;
    socket.destroy();
    expect(await sendRaw(port, ask('/denied'))).toMatch(/^HTTP\/1\.1 403 /);
    expect(server.asked.map((asked) => [asked.target, fieldValues(asked, 'upgrade')])).toEqual([
      ['/', []],
      ['/denied', []],
    ]);
    await new Promise((resolve) => app.close(resolve));
  });
});

describe('a request that is not permitted', () => {
  test.each([201, 202, 204, 302, 303, 400, 401, 403, 404, 407, 429, 500, 503])(
    'gets the %i of the server',
    async (status) => {
      const [server, app] = [await startServer(() => ({ status })), await startApp()];
      const { port, log } = await startAuthorized(app.port, server.port);
      expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(status);
      expect(app.reached).toEqual([]);
      await eventually(() =>
        expect(log[0]).toMatchObject({
          status,
          reason: status < 500 ? 'authorization-denied' : 'authorization-failed',
          route: 'HTTPRoute/shop/web',
          rule: 0,
        }),
      );
      expect(log[0]).not.toHaveProperty('backend');
    },
  );

  test('gets status, body, Location, WWW-Authenticate and every Set-Cookie unchanged, over HTTP/1.1 and HTTP/2', async () => {
    const body = '<p>log in</p>'.repeat(5_000);
    const headers = {
      location: 'https://login.example/?next=%2F',
      'www-authenticate': 'Basic realm="a", charset="UTF-8"',
      'set-cookie': ['a=1; Path=/', 'b=2; Secure'],
      'content-type': 'text/html',
      'x-why': 'no token',
    };
    const [server, app] = [await startServer(() => ({ status: 401, headers, body })), await startApp()];
    const { port, proxy } = await startAuthorized(app.port, server.port);
    const expected = {
      location: headers.location,
      'www-authenticate': headers['www-authenticate'],
      'set-cookie': headers['set-cookie'],
      'content-type': 'text/html',
      'x-why': 'no token',
      'content-length': String(body.length),
    };
    expect(await send(port, '/')).toMatchObject({ status: 401, body, headers: expected });
    const answer = await answerOf(openHttp2(port).request({ ':path': '/', ':authority': 'a' }));
    expect(answer).toMatchObject({ status: 401, body, headers: expected });
    expect(await send(port, '/', { method: 'HEAD' })).toMatchObject({ status: 401, body: '' });
    expect(app.reached).toEqual([]);
    expect(proxy.counters()).toMatchObject({
      authorizations: { permitted: 0, denied: 3, failed: 0 },
      responseBytes: 2 * body.length,
    });
  });

  test('is a gRPC call: its client gets the status, which stands for a code', async () => {
    const server = await startServer(() => ({ status: 403, body: 'no' }));
    let calls = 0;
    const app = await startHttp2Backend(() => (calls += 1));
    const { port } = await startAuthorized(app.port, server.port);
    const call = openHttp2(port).request({
      ':method': 'POST',
      ':path': '/shop.Cart/Add',
      ':authority': 'a',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.end(Buffer.alloc(5));
    expect(await answerOf(call)).toMatchObject({ status: 403, body: 'no' });
    expect(calls).toBe(0);
  });

  test('gets an answer that browsers may read where the rule has a CORS filter; preflight requests are answered unasked', async () => {
    const cors: CorsFilter = {
      type: 'cors',
      allowOrigins: ['https://app.example'],
      allowCredentials: true,
      allowMethods: ['PUT'],
      allowHeaders: [],
      exposeHeaders: [],
      maxAge: 5,
    };
    const [server, app] = [await startServer(() => ({ status: 401 })), await startApp()];
    const { port } = await startAuthorized(app.port, server.port, { filters: [cors, authorizedBy('auth')] });
    expect(
      (
        await send(port, '/', {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT' },
        })
      ).status,
    ).toBe(204);
    expect(server.asked).toEqual([]);
    expect(await send(port, '/', { headers: { origin: 'https://app.example' } })).toMatchObject({
      status: 401,
      headers: { 'access-control-allow-origin': 'https://app.example' },
    });
    expect(app.reached).toEqual([]);
  });

  test('is not mirrored either', async () => {
    const [server, app, copy] = [
      await startServer(({ target }) => ({ status: target === '/yes' ? 200 : 403 })),
      await startApp(),
      await startApp(),
    ];
    const mirror: RouteFilter = {
      type: 'mirror',
      target: { type: 'endpoints', key: endpointsConfig('copy').key },
      numerator: 1,
      denominator: 1,
    };
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [mirror, authorizedBy('auth')],
      resources: [endpointsConfig('copy', copy.port)],
    });
    expect((await send(port, '/no')).status).toBe(403);
    expect((await send(port, '/yes')).status).toBe(200);
    await eventually(() => expect(copy.reached).toEqual(['GET /yes']));
    expect(app.reached).toEqual(['GET /yes']);
  });
});

test('a rule that answers with an error anyway asks nobody', async () => {
  const server = await startServer();
  const endpoints = [endpointsConfig('auth', server.port), endpointsConfig('empty')];
  const statusOf = async (parts: Partial<RouteRule>): Promise<number> => {
    const { port } = await startProxy([...endpoints, webRoute(prefixRule('/', [authorizedBy('auth')], parts))]);
    return (await send(port, '/')).status;
  };
  expect(await statusOf({ failure: 'broken' })).toBe(500);
  expect(await statusOf({ backends: [] })).toBe(500);
  expect(await statusOf({ backends: [backendOf('app', { target: { type: 'invalid', reason: 'absent' } })] })).toBe(500);
  expect(await statusOf({ backends: [backendOf('empty')] })).toBe(503);
  expect(server.asked).toEqual([]);
});

test('another endpoint of the server is asked where a connection fails', async () => {
  const [server, app] = [await startServer(), await startApp()];
  const { port } = await startProxy([
    endpointsConfig('app', app.port),
    endpointsConfig('auth', await refusingPort(), server.port),
    webRoute(prefixRule('/', [authorizedBy('auth')])),
  ]);
  for (let request = 0; request < 4; request += 1) expect((await send(port, '/', { method: 'POST' })).status).toBe(200);
  expect([server.asked.length, app.reached.length]).toEqual([4, 4]);
});

test('a question on a kept connection that breaks is asked again, whatever the method', async () => {
  let questions = 0;
  const server = await startRawBackend((socket) => {
    let isFirst = true;
    socket.on('data', () => {
      questions += 1;
      if (isFirst) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      else socket.destroy();
      isFirst = false;
    });
  });
  const app = await startApp();
  const { port } = await startAuthorized(app.port, server.port);
  for (let request = 0; request < 3; request += 1) expect((await send(port, '/', { method: 'POST' })).status).toBe(200);
  expect([questions, server.connections(), app.reached.length]).toEqual([5, 3, 3]);
});

test('each request is asked about once, however often the backend is tried', async () => {
  const server = await startServer();
  let calls = 0;
  const moody = await startBackend((request, response) => {
    calls += 1;
    request.resume().on('end', () => response.writeHead(calls < 3 ? 503 : 200).end());
  });
  const { port } = await startAuthorized(moody.port, server.port, {
    parts: { retry: { codes: [503], attempts: 2, backoff: 1 } },
  });
  expect((await send(port, '/')).status).toBe(200);
  expect([calls, server.asked.length]).toEqual([3, 1]);
});

test('a server behind a route that asks the server itself ends as a loop', async () => {
  const app = await startApp();
  const started = await startProxy([endpointsConfig('app', app.port)], { onFault: throwFault });
  await started.apply(endpointsConfig('auth', started.port), webRoute(prefixRule('/', [authorizedBy('auth')])));
  expect((await send(started.port, '/')).status).toBe(508);
  expect(app.reached).toEqual([]);
});
