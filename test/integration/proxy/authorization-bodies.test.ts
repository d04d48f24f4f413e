import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteFilter } from '../../../src/core/routing/config.ts';
import { authorizedBy, startApp, startAuthorized, startServer } from '../../support/authorization.ts';
import { closeBackends, refusingPort, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import {
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

afterEach(closeProxies);
afterEach(closeBackends);

describe('a body', () => {
  const forwarding = { filters: [authorizedBy('auth', { maxBody: 100_000 })] };

  test.each([
    ['with a length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('%s goes to the server, the backend and mirrors', async (_name, headers) => {
    const body = 'b'.repeat(100_000);
    const [server, app, copy] = [await startServer(), await startEcho('app'), await startServer()];
    const mirror: RouteFilter = {
      type: 'mirror',
      target: { type: 'endpoints', key: endpointsConfig('copy').key },
      numerator: 1,
      denominator: 1,
    };
    const { port, proxy } = await startAuthorized(app.port, server.port, {
      filters: [...forwarding.filters, mirror],
      resources: [endpointsConfig('copy', copy.port)],
    });
    expect(await echoed(port, '/', { method: 'POST', headers, body })).toMatchObject({ body });
    expect(server.asked.map((asked) => [asked.body, fieldValues(asked, 'content-length')])).toEqual([
      [body, ['100000']],
    ]);
    await eventually(() => expect(copy.asked.map((copied) => copied.body)).toEqual([body]));
    expect(proxy.counters().requestBytes).toBe(100_000);
  });

  test('that has no bytes is sent as none', async () => {
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port } = await startAuthorized(app.port, server.port, forwarding);
    expect(await echoed(port, '/', { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })).toMatchObject({
      body: '',
    });
    expect(server.asked.map((asked) => [asked.body, fieldValues(asked, 'content-length')])).toEqual([['', ['0']]]);
  });

  test.each([
    ['with a length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('%s that is too large is refused unasked', async (_name, headers) => {
    const [server, app] = [await startServer(), await startApp()];
    const { port, proxy, log } = await startAuthorized(app.port, server.port, forwarding);
    expect((await send(port, '/', { method: 'POST', headers, body: 'b'.repeat(100_001) })).status).toBe(413);
    expect([server.asked, app.reached]).toEqual([[], []]);
    await eventually(() => expect(log).toMatchObject([{ reason: 'body-too-large' }]));
    expect(proxy.counters().limitsReached['authorization-body']).toBe(1);
  });

  test('is asked for from a client that waits for leave, and not from one that is denied', async () => {
    const [server, app] = [
      await startServer(({ body }) => ({ status: body === 'good' ? 200 : 403 })),
      await startEcho('app'),
    ];
    const { port } = await startAuthorized(app.port, server.port, forwarding);
    const socket = openRaw(port);
    const leave = receiveUntil(socket, '100 Continue');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
    await leave;
    const answer = receiveUntil(socket, '"good"');
    socket.write('good');
    expect(await answer).toContain('200 OK');
    socket.destroy();
    const denying = await startAuthorized(app.port, (await startServer(() => ({ status: 403 }))).port);
    expect(
      await sendRaw(denying.port, 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('that many clients send at the same time takes no more room than there is', async () => {
    const [server, app] = [await startServer(), await startApp()];
    const { port, proxy } = await startAuthorized(app.port, server.port, {
      ...forwarding,
      options: { limits: { authorizationBytes: 50_000 } },
    });
    expect((await send(port, '/', { method: 'POST', body: 'b'.repeat(80_000) })).status).toBe(503);
    expect((await send(port, '/', { method: 'POST', body: 'b'.repeat(20_000) })).status).toBe(200);
    expect([server.asked.length, app.reached.length]).toEqual([1, 1]);
    const { limitsReached } = proxy.counters();
    expect(limitsReached['authorization-bytes'] + limitsReached['client-share']).toBe(1);
  });

  test('that is repeated to the backend after a refused connection is whole', async () => {
    const body = 'b'.repeat(90_000);
    const [server, app] = [await startServer(), await startEcho('app')];
    const { port } = await startProxy(
      [
        endpointsConfig('app', await refusingPort(), app.port),
        endpointsConfig('auth', server.port),
        webRoute(prefixRule('/', forwarding.filters)),
      ],
      { onFault: throwFault },
    );
    expect(await echoed(port, '/', { method: 'POST', body })).toMatchObject({ body });
    expect(await echoed(port, '/', { method: 'POST', body })).toMatchObject({ body });
    expect(server.asked).toHaveLength(2);
  });
});

test('the head of a response of the server counts until its end', async () => {
  const server = await startRawBackend((socket) => {
    socket.once('data', () =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\nx`),
    );
  });
  const { port, proxy } = await startAuthorized((await startEcho('app')).port, server.port, {
    options: { limits: { authorizationBytes: 20_000 } },
  });
  expect((await send(port, '/')).status).toBe(503);
  const { limitsReached } = proxy.counters();
  expect(limitsReached['authorization-bytes'] + limitsReached['client-share']).toBe(1);
});
