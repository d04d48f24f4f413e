import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { EndpointsConfig } from '../../../src/core/routing/config.ts';
import type { Limit } from '../../../src/proxy/counters.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { closeBackends, startBackend, startCanned, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import {
  closeProxies,
  openRaw,
  portOf,
  prefixRule,
  receiveUntil,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
  webRoute,
} from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function reached({ proxy }: ProxyUnderTest, limit: Limit, times = 1): Promise<void> {
  return eventually(() => expect(proxy.counters().limitsReached[limit]).toBe(times));
}

/** A connection on which a request has been answered. */
async function openAnswered(port: number): Promise<Socket> {
  const socket = openRaw(port);
  const answered = receiveUntil(socket, 'HTTP/1.1 200');
  socket.write(get);
  await answered;
  return socket;
}

/** A connection whose request waits for a backend that does not respond. */
async function openWaiting(started: ProxyUnderTest): Promise<Socket> {
  const { openRequests } = started.proxy.counters();
  const socket = openRaw(started.port);
  socket.write(get);
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(openRequests + 1));
  return socket;
}

test('connections in all', async () => {
  const backend = await startBackend((request, response) => void (request.url === '/' && response.end()));
  const started = await startProxyTo(backend.port, { connections: 1 });
  const first = openRaw(started.port);
  first.write('GET /wait HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(1));
  expect(await sendRaw(started.port, get)).toBe('');
  await reached(started, 'connections');
  first.destroy();
  await eventually(() => expect(started.proxy.counters().openConnections).toBe(0));
  (await openAnswered(started.port)).destroy();
});

test.each([
  ['HTTP/1.1', (port: number) => openAnswered(port)],
  [
    'HTTP/2',
    async (port: number) => {
      const session = openHttp2(port);
      expect((await request(session)).status).toBe(200);
      return session;
    },
  ],
])('connections in all: one without a request makes room, in %s', async (_name, open) => {
  const started = await startProxyTo((await startEcho()).port, { connections: 2 });
  const oldest = await open(started.port);
  const other = await openAnswered(started.port);
  const closed = once(oldest, 'close');
  const socket = await openAnswered(started.port);
  await closed;
  await reached(started, 'connections');
  expect([other.destroyed, socket.destroyed, started.proxy.counters().openConnections]).toEqual([false, false, 2]);
  socket.destroy();
  other.destroy();
});

test('connections in all: one that says nothing makes room', async () => {
  const started = await startProxyTo((await startEcho()).port, { connections: 1 });
  const silent = openRaw(started.port);
  await eventually(() => expect(started.proxy.counters().openConnections).toBe(1));
  const closed = once(silent, 'close');
  const socket = await openAnswered(started.port);
  await closed;
  await reached(started, 'connections');
  expect(started.proxy.counters().openConnections).toBe(1);
  socket.destroy();
});

test('connections of a client', async () => {
  const started = await startProxyTo((await startEcho()).port, { connectionsPerClient: 2 });
  const two = [await openAnswered(started.port), await openAnswered(started.port)];
  expect(await sendRaw(started.port, get)).toBe('');
  await reached(started, 'client-connections');
  two[0]?.destroy();
  await eventually(() => expect(started.proxy.counters().openConnections).toBe(1));
  (await openAnswered(started.port)).destroy();
});

test('TLS handshakes: one that takes too long ends', async () => {
  const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
  const started = await startProxy([secure], { limits: { tlsHandshakeTimeout: 20 } });
  const socket = openRaw(portOf(started.proxy, secure.key)).resume();
  socket.write('\x16\x03\x01', 'latin1');
  await once(socket, 'close');
  expect(started.proxy.counters()).toMatchObject({ tlsFailures: 1, limitsReached: { 'handshake-time': 1 } });
});

test.each([
  ['a head', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(33_000)}\r\n\r\n`],
  [
    'trailers',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${`X-A: ${'a'.repeat(3_000)}\r\n`.repeat(12)}\r\n`,
  ],
  ['a chunk size', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=${'a'.repeat(5_000)}\r\na\r\n0\r\n\r\n`],
])('responses with %s that is too long', async (_name, answer) => {
  const started = await startProxyTo((await startCanned(answer)).port);
  expect(await sendRaw(started.port, get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))).not.toMatch(
    /\r\n0\r\n\r\n$/,
  );
  await reached(started, 'response-header');
});

test('TLS handshakes: the oldest ends', async () => {
  const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/none'] });
  const started = await startProxy([secure], { limits: { handshakes: 2 } });
  const hello = Buffer.from([0x16, 3, 1, 2, 0]);
  const sockets = [0, 1, 2].map(() => openRaw(portOf(started.proxy, secure.key)));
  const closed = once(sockets[0] as Socket, 'close');
  for (const [count, socket] of sockets.entries()) {
    socket.write(hello);
    await eventually(() => expect(started.proxy.counters().connections).toBe(count + 1));
  }
  await Promise.race(sockets.map((socket) => once(socket, 'close')));
  await reached(started, 'tls-handshakes');
  for (const socket of sockets) socket.destroy();
  await closed;
});

test('TLS handshakes: those of the client with most of them end', async () => {
  const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/none'] });
  const started = await startProxy([secure], { limits: { handshakes: 2 } });
  const hello = Buffer.from([0x16, 3, 1, 2, 0]);
  const sockets: Socket[] = [];
  for (const [position, localAddress] of ['127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.2'].entries()) {
    const socket = connect({ host: '127.0.0.1', port: portOf(started.proxy, secure.key), localAddress });
    sockets.push(socket.on('error', () => undefined).resume());
    socket.write(hello);
    await eventually(() => expect(started.proxy.counters().connections).toBe(position + 1));
  }
  await eventually(() => expect(sockets.map(({ closed }) => closed)).toEqual([false, true, true, false]));
  for (const socket of sockets) socket.destroy();
});

// OpenSSL keeps large messages for each of them, and a Gateway can have thousands of ports.
test('TLS handshakes: the limit is for all ports together', async () => {
  const parts = { protocol: 'HTTPS', certificates: ['shop/none'] } as const;
  const listeners = [1, 2, 3].map((port) => listenerConfig(`secure-${port}`, { ...parts, port }));
  const started = await startProxy(listeners, {
    limits: { handshakes: 2 },
    bind: ({ port }) => [{ host: `127.0.0.${port}`, port: 0 }],
  });
  const sockets: Socket[] = [];
  for (const { port, key } of listeners) {
    const socket = openRaw(portOf(started.proxy, key), `127.0.0.${port}`).resume();
    sockets.push(socket);
    socket.write(Buffer.from([0x16, 3, 1, 2, 0]));
    await eventually(() => expect(started.proxy.counters().connections).toBe(sockets.length));
  }
  await eventually(() => expect(sockets.map(({ closed }) => closed)).toEqual([true, false, false]));
  await reached(started, 'tls-handshakes');
  for (const socket of sockets) socket.destroy();
});

test('requests in all', async () => {
  const backend = await startBackend(() => undefined);
  const started = await startProxyTo(backend.port, { requests: 1 });
  const first = await openWaiting(started);
  const { status, headers } = await send(started.port, '/');
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  await reached(started, 'requests');
  first.destroy();
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(0));
});

test.each<[Limit, Partial<ProxyLimits>]>([
  ['endpoint-waiting', { connectionsPerEndpoint: 1, waitingPerEndpoint: 1 }],
  ['waiting', { connectionsPerEndpoint: 1, waiting: 1 }],
])('requests that wait for a connection: %s', async (limit, limits) => {
  const backend = await startBackend(() => undefined);
  const started = await startProxyTo(backend.port, limits);
  const sockets = [await openWaiting(started)];
  await eventually(() => expect(backend.openConnections()).toBe(1));
  sockets.push(await openWaiting(started));
  const { status, headers, body } = await send(started.port, '/');
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(body).toContain('Too many requests wait for the backend');
  await reached(started, limit);
  // One that gives up leaves its place to the next.
  sockets[1]?.destroy();
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(1));
  sockets.push(await openWaiting(started));
  await reached(started, limit);
  for (const socket of sockets) socket.destroy();
});

test.each(['1.1', 'h2c', 'TLS'])('the time for which requests wait for a connection over %s', async (version) => {
  // None of them ever says what it speaks.
  const backend = await startRawBackend((socket) => socket.resume());
  const first = version === '1.1' ? await startBackend(() => undefined) : backend;
  const manner: Partial<EndpointsConfig> =
    version === 'h2c'
      ? { protocol: 'h2c' }
      : version === 'TLS'
        ? { tls: { serverName: 'a', subjectAltNames: [], authorities: 'system' } }
        : {};
  const limits = { connectionsPerEndpoint: 1, waitTimeout: 30, connectTimeout: 10_000 };
  const started = await startProxy(
    [{ ...endpointsConfig('app', first.port), ...manner }, webRoute(prefixRule('/', []))],
    { limits },
  );
  const sockets = version === '1.1' ? [await openWaiting(started)] : [];
  if (version === '1.1') await eventually(() => expect(first.openConnections()).toBe(1));
  expect((await send(started.port, '/')).status).toBe(503);
  await reached(started, 'wait-time');
  for (const socket of sockets) socket.destroy();
});

test('the place of a request that waits is free once its client has left', async () => {
  const backend = await startBackend(() => undefined);
  const started = await startProxyTo(backend.port, { connectionsPerEndpoint: 1, waitingPerEndpoint: 100 });
  const first = await openWaiting(started);
  await eventually(() => expect(backend.openConnections()).toBe(1));
  for (let round = 0; round < 150; round += 1) {
    (await openWaiting(started)).destroy();
    await eventually(() => expect(started.proxy.counters().openRequests).toBe(1));
  }
  expect(started.proxy.counters().limitsReached['endpoint-waiting']).toBe(0);
  first.destroy();
});

const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n';

function startChat() {
  return startRawBackend((socket) => {
    socket
      .on('end', () => socket.end())
      .once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhello'),
      );
  });
}

test('tunnels', async () => {
  const backend = await startChat();
  const started = await startProxyTo(backend.port, { tunnels: 1 });
  const socket = openRaw(started.port);
  const switched = receiveUntil(socket, 'hello');
  socket.write(upgrade);
  await switched;
  expect(await sendRaw(started.port, upgrade)).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1/);
  await reached(started, 'tunnels');
  socket.destroy();
  await eventually(() => expect(backend.openConnections()).toBe(0));
  const next = openRaw(started.port);
  const again = receiveUntil(next, 'hello');
  next.write(upgrade);
  await again;
  next.destroy();
});

test('the time for which a tunnel is silent', async () => {
  const backend = await startChat();
  const started = await startProxyTo(backend.port, { tunnelIdleTimeout: 20 });
  await sendRaw(started.port, upgrade);
  await reached(started, 'tunnel-idle');
  await eventually(() => expect([backend.openConnections(), started.proxy.counters().openConnections]).toEqual([0, 0]));
});

test.each(['client', 'backend'])('the time for which a tunnel is silent that the %s has closed', async (side) => {
  const sockets: Socket[] = [];
  const backend = await startRawBackend((socket) => {
    sockets.push(socket);
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhello'),
    );
  });
  const started = await startProxyTo(backend.port, { tunnelHalfClosedTimeout: 20 });
  const socket = openRaw(started.port);
  socket.allowHalfOpen = true;
  const switched = receiveUntil(socket, 'hello').catch(() => undefined);
  socket.write(upgrade);
  await switched;
  const [closing, other] = side === 'client' ? [socket, sockets[0]] : [sockets[0], socket];
  const ended = once(other!.resume(), 'end');
  closing?.end();
  await Promise.race([ended, once(other!, 'close')]);
  await reached(started, 'tunnel-half-closed');
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  expect(started.proxy.counters().limitsReached['tunnel-idle']).toBe(0);
  // A side that is half-closed already learns of the rest when it writes.
  await eventually(() => {
    other?.write('x');
    expect(backend.openConnections()).toBe(0);
  });
  socket.destroy();
});

test('mirrors', async () => {
  const [app, silent] = [await startEcho(), await startBackend(() => undefined)];
  const mirror = {
    type: 'mirror' as const,
    target: { type: 'endpoints' as const, key: endpointsConfig('copy').key },
    numerator: 1,
    denominator: 1,
  };
  const started = await startProxy(
    [endpointsConfig('app', app.port), endpointsConfig('copy', silent.port), webRoute(prefixRule('/', [mirror]))],
    { limits: { mirrors: 1, stallTimeout: 200 } },
  );
  for (let count = 0; count < 3; count += 1) expect((await send(started.port, '/')).status).toBe(200);
  await reached(started, 'mirrors', 2);
  expect(started.proxy.counters().mirrored).toBe(1);
  // A copy that is not answered is given up.
  await eventually(() => expect(silent.openConnections()).toBe(0));
  expect((await send(started.port, '/')).status).toBe(200);
  expect(started.proxy.counters().mirrored).toBe(2);
});

test('retries', async () => {
  const backend = await startBackend((_request, response) => response.writeHead(503).end());
  const rule = { ...prefixRule('/', []), retry: { codes: [503], attempts: 1, backoff: 60_000 } };
  const started = await startProxy([endpointsConfig('app', backend.port), webRoute(rule)], { limits: { retries: 1 } });
  const first = await openWaiting(started);
  await eventually(() => expect(started.proxy.counters().upstreamAttempts).toBe(1));
  await eventually(() => expect(backend.connections()).toBe(1));
  expect((await send(started.port, '/')).body).toContain('Too many requests wait');
  await reached(started, 'retries');
  first.destroy();
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(0));
  // The pause of the first one is over with it.
  const second = await openWaiting(started);
  second.destroy();
  await reached(started, 'retries');
});
