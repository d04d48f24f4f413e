import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { MirrorFilter } from '../../../src/core/routing/config.ts';
import type { Forwarder, ResponseReceiver } from '../../../src/proxy/messages/forwarder.ts';
import { closeBackends, startBackend, startEcho, startHttp2Backend, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, frame, frameTypes, openHttp2, request } from '../../support/http2.ts';
import { dial, endOf, startLayer4, tcp, tcpRoute } from '../../support/layer4.ts';
import {
  closeProxies,
  echoed,
  openRaw,
  prefixRule,
  receiveUntil,
  routeTo,
  send,
  startProxy,
  startProxyTo,
  throwFault,
  webRoute,
} from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

function used({ proxy }: Pick<ProxyUnderTest, 'proxy'>): number {
  return proxy.counters().buffered.used;
}

function reached({ proxy }: Pick<ProxyUnderTest, 'proxy'>): Promise<void> {
  return eventually(() => expect(proxy.counters().limitsReached.buffered).toBeGreaterThan(0));
}

/** Nothing is charged once everything has ended. */
function released(started: Pick<ProxyUnderTest, 'proxy'>): Promise<void> {
  return eventually(() => expect(used(started)).toBe(0));
}

// The filters of a route can make it large, and its client has sent only a few bytes.
test('a request with a large head that the backend does not take is answered 503 with Retry-After', async () => {
  const backend = await startRawBackend((socket) => socket.pause());
  const added = { name: 'x-large', value: 'a'.repeat(12 * mebibyte) };
  const filters = [{ type: 'requestHeaders' as const, set: [added], add: [], remove: [] }];
  const started = await startProxy([endpointsConfig('app', backend.port), routeTo('app', { filters })], {
    limits: { bufferedBytes: mebibyte },
  });
  expect(await send(started.port, '/')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  await reached(started);
  await eventually(() => expect(started.log).toMatchObject([{ status: 503, reason: 'overloaded' }]));
  await released(started);
});

test('an upload over HTTP/2 whose backend does not take it is answered 503 with Retry-After', async () => {
  const backend = await startHttp2Backend(() => undefined, { settings: { initialWindowSize: 0 } });
  const started = await startProxy([{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')], {
    limits: { bufferedBytes: 128 * kibibyte },
  });
  const session = openHttp2(started.port);
  const answer = await request(session, { ':method': 'POST' }, 'x'.repeat(mebibyte));
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  await reached(started);
  await eventually(() => expect(started.log).toMatchObject([{ status: 503, reason: 'overloaded' }]));
  // The connection goes on.
  expect((await request(session, { ':method': 'POST' }, 'x'.repeat(mebibyte))).status).toBe(503);
  await released(started);
});

test('what waits for a connection to the backend counts', async () => {
  const backend = await startBackend((incoming, response) => void (incoming.url === '/' && response.end()));
  const started = await startProxyTo(backend.port, { connectionsPerEndpoint: 1 });
  const session = openHttp2(started.port);
  const first = session.request({ ':authority': 'a', ':path': '/wait' });
  await eventually(() => expect(started.proxy.counters().openRequests).toBe(1));
  const second = session.request({ ':authority': 'a', ':method': 'POST', ':path': '/wait' }, { endStream: false });
  second.on('error', () => undefined).write(Buffer.alloc(100_000));
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(100_000));
  first.on('error', () => undefined).close();
  second.close();
  await released(started);
});

test('a body that arrives with its head counts while it waits for a connection to the backend', async () => {
  const backend = await startBackend((_incoming, response) => void response.writeHead(200).write('begun'));
  const started = await startProxyTo(backend.port, { connectionsPerEndpoint: 1 });
  const first = openRaw(started.port);
  first.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await receiveUntil(first, 'begun');
  const second = openRaw(started.port);
  second.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n${'x'.repeat(10_000)}`);
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(10_000));
  expect(started.proxy.counters().requestBytes).toBe(0);
  first.destroy();
  await eventually(() => expect(started.proxy.counters().requestBytes).toBe(10_000));
  second.destroy();
  await released(started);
});

/**
 * Sends requests at once, as an idle HTTP/1.1 connection does. A body waits until there is no room for it, and the backend answers
 * even after an abort.
 */
function startSending(waiting: number) {
  const sent: ResponseReceiver[] = [];
  const calls = { aborted: 0 };
  const forwarder: Forwarder = {
    forward(request, receiver) {
      sent.push(receiver);
      receiver.onConnected();
      if (request.content !== undefined) request.sending?.(waiting, request.content.length);
      return { abort: () => void (calls.aborted += 1), pause: () => undefined, resume: () => undefined };
    },
    release: () => undefined,
    close: () => Promise.resolve(),
  };
  const answer = (index: number, body: string): void => {
    sent[index]?.onHead({ status: 200, fields: ['content-length', String(body.length)], httpVersion: '1.1' });
    sent[index]?.onData(Buffer.from(body));
    sent[index]?.onEnd([]);
  };
  return { forwarder, sent, calls, answer };
}

test('a request that overflows while it is being sent is aborted, and its late response reaches no client', async () => {
  const { forwarder, sent, calls, answer } = startSending(mebibyte);
  const started = await startProxy([endpointsConfig('app', 1), routeTo('app')], {
    forwarder,
    limits: { bufferedBytes: 128 * kibibyte },
    onFault: throwFault,
  });
  const client = openRaw(started.port);
  const refused = receiveUntil(client, 'HTTP/1.1 503');
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody');
  await refused;
  expect(calls.aborted).toBe(1);
  const second = receiveUntil(client, 'own');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(sent).toHaveLength(2));
  answer(0, 'other');
  answer(1, 'own');
  expect(await second).not.toContain('other');
  expect(started.log).toMatchObject([{ status: 503, reason: 'overloaded' }, { status: 200 }]);
  client.destroy();
  await released(started);
});

test.each([
  ['HTTP/1.1', 'http1'],
  ['HTTP/2', 'h2c'],
] as const)(
  'a response that the client does not take is broken off, from a backend over %s',
  async (_name, protocol) => {
    const body = Buffer.alloc(64 * mebibyte);
    const backend =
      protocol === 'h2c'
        ? await startHttp2Backend((stream) => {
            stream.respond();
            stream.end(body);
          })
        : await startBackend((_request, response) => void response.end(body));
    const endpoints = endpointsConfig('app', backend.port);
    const started = await startProxy([protocol === 'h2c' ? { ...endpoints, protocol } : endpoints, routeTo('app')], {
      limits: { bufferedBytes: 64 * kibibyte },
    });
    const client = openRaw(started.port).pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await reached(started);
    await eventually(() => expect(started.log).toMatchObject([{ status: 200, reason: 'overloaded' }]));
    await released(started);
    client.destroy();
  },
);

test('a response that waits is charged until the client takes it', async () => {
  const backend = await startBackend((_request, response) => void response.end(Buffer.alloc(60 * kibibyte)));
  const started = await startProxyTo(backend.port);
  const session = openHttp2(started.port, undefined, { initialWindowSize: 0 });
  const stream = session.request({ ':authority': 'a', ':path': '/' });
  await once(stream, 'response');
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(60 * kibibyte));
  stream.resume();
  session.settings({ initialWindowSize: 100_000 });
  await once(stream, 'close');
  expect(stream.rstCode).toBe(0);
  await released(started);
});

/** Connections that send these bytes and then nothing. */
function openSeveral({ port }: ProxyUnderTest, count: number, bytes: string): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = openRaw(port);
    socket.write(bytes);
    return socket;
  });
}

test('an HTTP/2 response that goes on is charged for what waits only', async () => {
  const piece = 'x'.repeat(40 * kibibyte);
  const backend = await startBackend((_request, response) => void response.writeHead(200).write(piece));
  const started = await startProxyTo(backend.port);
  const session = openHttp2(started.port, undefined, { initialWindowSize: 0 });
  const stream = session.request({ ':authority': 'a', ':path': '/' }).on('error', () => undefined);
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(piece.length));
  session.settings({ initialWindowSize: 2 ** 20 });
  let received = 0;
  stream.on('data', (bytes: Buffer) => (received += bytes.length));
  await eventually(() => expect(received).toBe(piece.length));
  // The response has not ended.
  await eventually(() => expect(used(started)).toBe(0));
  stream.close();
});

test('the head of a redirect counts if the filters of its route make it large', async () => {
  const add = Array.from({ length: 16 }, (_, index) => ({ name: `x-${index}`, value: 'v'.repeat(4 * kibibyte) }));
  const rule = (prefix: string, added: typeof add) =>
    prefixRule(prefix, [
      { type: 'redirect', statusCode: 302, hostname: 'b.example' },
      { type: 'responseHeaders', set: [], add: added, remove: [] },
    ]);
  const limits = { bufferedBytes: 64 * kibibyte };
  const started = await startProxy([webRoute(rule('/large', add), { ...rule('/', add.slice(0, 3)), index: 1 })], {
    limits,
  });
  const large = await send(started.port, '/large');
  expect(large).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect((await send(started.port, '/')).status).toBe(302);
  await reached(started);
  await released(started);
});

test('requests that are sent ahead count, and are dropped where there is no room for them', async () => {
  const answer = Promise.withResolvers<void>();
  const backend = await startBackend((_request, response) => void answer.promise.then(() => response.end('done')));
  const started = await startProxyTo(backend.port, { bufferedBytes: 64 * kibibyte });
  const ahead = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(400);
  const sockets = openSeveral(started, 12, ahead);
  await reached(started);
  expect(used(started)).toBeGreaterThan(32 * kibibyte);
  expect(used(started)).toBeLessThanOrEqual(64 * kibibyte);
  // The first request of each connection gets its response, also where those after it are dropped.
  const answers = sockets.map((socket) => receiveUntil(socket, '\r\n\r\n'));
  answer.resolve();
  const statuses = (await Promise.all(answers)).map((text) => text.slice(0, 'HTTP/1.1 200'.length));
  expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200', 'HTTP/1.1 503']));
  for (const socket of sockets) socket.destroy();
  await released(started);
});

test('incomplete heads count, and get 503 where there is no room for them', async () => {
  const backend = await startBackend((_request, response) => void response.end());
  const started = await startProxyTo(backend.port, { bufferedBytes: 64 * kibibyte });
  const sockets = openSeveral(started, 3, `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(15 * kibibyte)}`);
  await eventually(() => expect(used(started)).toBeGreaterThan(45 * kibibyte));
  const [last] = openSeveral(started, 1, `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(20 * kibibyte)}`);
  if (last === undefined) throw new Error('it is not open');
  expect(await receiveUntil(last, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1/i);
  await reached(started);
  for (const socket of [...sockets, last]) socket.destroy();
  await released(started);
});

test('what a client sends before its connection switches protocols counts', async () => {
  const backend = await startRawBackend((socket) => void socket.resume());
  const started = await startProxyTo(backend.port, { bufferedBytes: 64 * kibibyte });
  const ask = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
  const [first] = openSeveral(started, 1, `${ask}${'x'.repeat(10 * kibibyte)}`);
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(10 * kibibyte));
  const [second] = openSeveral(started, 1, `${ask}${'x'.repeat(100 * kibibyte)}`);
  if (first === undefined || second === undefined) throw new Error('they are not open');
  expect(await receiveUntil(second, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1/i);
  await reached(started);
  for (const socket of [first, second]) socket.destroy();
  await released(started);
});

test('a client with no room left gets 503 for new requests, and others do not', async () => {
  const backend = await startBackend((_request, response) => void response.end(Buffer.alloc(60 * kibibyte)));
  const started = await startProxyTo(backend.port, { bufferedBytes: 84 * kibibyte });
  const session = openHttp2(started.port, undefined, { initialWindowSize: 0 });
  const stream = session.request({ ':authority': 'a', ':path': '/' });
  await once(stream, 'response');
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(60 * kibibyte));
  expect(await send(started.port, '/')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  const other = connect({ port: started.port, host: '127.0.0.1', localAddress: '127.0.0.9' });
  other.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await receiveUntil(other, 'HTTP/1.1 200');
  other.destroy();
  stream.on('error', () => undefined).close();
  await released(started);
});

test('a body is not kept for a retry where there is no room for it; the request goes on', async () => {
  const tries: string[] = [];
  const backend = await startBackend(
    (incoming, response) =>
      void incoming
        .once('data', () => void tries.push(incoming.url ?? ''))
        .on('end', () => void response.writeHead(503).end()),
  );
  const rule = { ...prefixRule('/', []), retry: { codes: [503], attempts: 3, backoff: 1 } };
  const started = await startProxy([endpointsConfig('app', backend.port), webRoute(rule)], {
    limits: { bufferedBytes: 60 * kibibyte },
  });
  const post = async (path: string, length: number): Promise<void> => {
    const client = openRaw(started.port);
    client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\nx`);
    await eventually(() => expect(tries).toContain(path));
    const answered = receiveUntil(client, 'HTTP/1.1 503');
    client.write('x'.repeat(length - 1));
    await answered;
    client.destroy();
  };
  await post('/short', 1_000);
  expect(tries).toEqual(Array.from({ length: 4 }, () => '/short'));
  await post('/long', 60_000);
  expect(tries.slice(4)).toEqual(['/long']);
  await reached(started);
  await released(started);
});

test('a copy for a mirror is given up where there is no room for it; the request goes on', async () => {
  const app = await startEcho('app');
  const copies: Socket[] = [];
  const mirror = await startRawBackend((socket) => void copies.push(socket.pause()));
  const filter: MirrorFilter = {
    type: 'mirror',
    target: { type: 'endpoints', key: endpointsConfig('copy').key },
    numerator: 1,
    denominator: 1,
  };
  const started = await startProxy(
    [endpointsConfig('app', app.port), endpointsConfig('copy', mirror.port), webRoute(prefixRule('/', [filter]))],
    { limits: { bufferedBytes: 2 * mebibyte } },
  );
  // More than sockets take by themselves, and slowly enough for the backend.
  const body = 'b'.repeat(16 * mebibyte);
  expect((await echoed(started.port, '/', { method: 'POST', body })).body).toHaveLength(body.length);
  await reached(started);
  expect(started.proxy.counters().limitsReached['mirror-body']).toBe(0);
  for (const socket of copies) socket.destroy();
  await released(started);
});

test('a tunnel whose receiver takes nothing is reset', async () => {
  const backend = await startRawBackend((socket) => {
    socket
      .pause()
      .once('readable', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      );
  });
  const started = await startProxyTo(backend.port, { bufferedBytes: 64 * kibibyte });
  const client = openRaw(started.port);
  client.write(
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await receiveUntil(client, '\r\n\r\n');
  const closed = endOf(client);
  client.write(Buffer.alloc(64 * mebibyte));
  expect((await closed).how).not.toBe('end');
  await reached(started);
  await released(started);
});

test('bytes that wait in a tunnel of a client on HTTP/2 count, also while it is not read', async () => {
  const backend = await startHttp2Backend((stream) => stream.respond({ ':status': 200 }), {
    settings: { enableConnectProtocol: true, initialWindowSize: 0 },
  });
  const started = await startProxy([{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')]);
  const session = openHttp2(started.port);
  await once(session, 'remoteSettings');
  const head = { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': '/', ':authority': 'a' };
  const tunnel = session.request({ ...head, 'sec-websocket-version': '13' }, { endStream: false });
  await once(tunnel, 'response');
  // More than its window.
  tunnel.write(Buffer.alloc(mebibyte));
  await eventually(() => expect(used(started)).toBeGreaterThanOrEqual(256 * kibibyte));
  tunnel.close();
  await released(started);
});

test('a connection of a TCPRoute whose receiver takes nothing is reset', async () => {
  const backend = await startRawBackend((socket) => void socket.pause());
  const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
    limits: { bufferedBytes: 64 * kibibyte },
  });
  const client = dial(started);
  const ended = endOf(client);
  client.write(Buffer.alloc(64 * mebibyte));
  expect((await ended).how).toBe('reset');
  await reached(started);
  await eventually(() => expect(started.connections).toMatchObject([{ reason: 'overloaded' }]));
  await released(started);
});

const largeField = `x-large: ${'a'.repeat(4_000)}\r\n`;

// A backend can take long, and its clients keep their requests open meanwhile.
test('the trailers of a request count until it is over', async () => {
  const backend = await startRawBackend((socket) => socket.resume());
  const started = await startProxyTo(backend.port);
  const socket = openRaw(started.port);
  socket.write(
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n${largeField.repeat(7)}\r\n`,
  );
  const session = openHttp2(started.port);
  await eventually(() => expect(used(started)).toBeGreaterThan(28_000));
  const stream = session.request({ ':method': 'POST', ':authority': 'a', ':path': '/' }, { waitForTrailers: true });
  stream.on('error', () => undefined).on('wantTrailers', () => stream.sendTrailers({ 'x-large': 'a'.repeat(20_000) }));
  stream.end('x');
  await eventually(() => expect(used(started)).toBeGreaterThan(48_000));
  socket.destroy();
  session.destroy();
  await released(started);
});

test('a request whose trailers have no room ends, and the others go on', async () => {
  const backend = await startBackend((incoming, response) => void (incoming.url === '/' && response.end()));
  const started = await startProxyTo(backend.port, { bufferedBytes: 32 * kibibyte });
  const session = openHttp2(started.port);
  const stream = session.request({ ':method': 'POST', ':authority': 'a', ':path': '/wait' }, { waitForTrailers: true });
  stream.on('error', () => undefined).on('wantTrailers', () => stream.sendTrailers({ 'x-large': 'a'.repeat(31_000) }));
  stream.end('x');
  await eventually(() => expect(stream.closed).toBe(true));
  await reached(started);
  expect((await request(session)).status).toBe(200);
  await released(started);
});

test('an incomplete head of a response counts', async () => {
  const backend = await startRawBackend((socket) => {
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${largeField.repeat(7)}`));
  });
  const started = await startProxyTo(backend.port);
  const socket = openRaw(started.port);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(used(started)).toBeGreaterThan(28_000));
  socket.destroy();
  await released(started);
});

test('a response whose incomplete head has no room is answered 503', async () => {
  const backend = await startRawBackend((socket) => {
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${largeField.repeat(7)}`));
  });
  const started = await startProxyTo(backend.port, { bufferedBytes: 24 * kibibyte });
  expect((await send(started.port, '/')).status).toBe(503);
  await reached(started);
  await released(started);
});

test('an incomplete header section of a backend over HTTP/2 counts', async () => {
  const headersOfFirst = Buffer.from([frameTypes.headers, 5, 0, 0, 0, 1]);
  const incomplete = Buffer.concat([frame('headers', 0, 1, Buffer.alloc(16_000, 0x88)), frame('settings', 0, 0)]);
  const backend = await startRawBackend((socket) => {
    socket.write(frame('settings', 0, 0));
    socket.on('data', (bytes: Buffer) => {
      if (bytes.includes(headersOfFirst)) socket.write(incomplete.subarray(0, -9));
    });
  });
  const started = await startProxy([{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')]);
  const socket = openRaw(started.port);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => expect(used(started)).toBeGreaterThan(15_000));
  socket.destroy();
});
