import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startCanned, startHttp2Backend } from '../../support/backends.ts';
import type { Http2Listener } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2 } from '../../support/http2.ts';
import type { Http2Answer } from '../../support/http2.ts';
import {
  closeProxies,
  openRaw,
  receiveUntil,
  routeTo,
  sendRaw,
  startProxy,
  startProxyTo,
} from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const ask = `GET /chat?a=1 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n${key}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat\r\n\r\n`;
const extended = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':scheme': 'http',
  ':path': '/chat',
  ':authority': 'a',
  'sec-websocket-version': '13',
};

const takesWebSockets = { settings: { enableConnectProtocol: true } };

/** A proxy to a backend that speaks HTTP/2 without TLS, and takes WebSockets unless told otherwise. */
async function startProxyToHttp2(listener: Http2Listener, options = takesWebSockets) {
  const backend = await startHttp2Backend(listener, options);
  return {
    backend,
    ...(await startProxy([{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')])),
  };
}

/** A proxy to a backend that opens every WebSocket, greets, and sends back what comes. */
async function startEchoing() {
  const opened: { readonly stream: ServerHttp2Stream; readonly headers: IncomingHttpHeaders }[] = [];
  const started = await startProxyToHttp2((stream, headers) => {
    opened.push({ stream, headers });
    stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat', 'x-backend': '1' });
    stream.write('hello');
    stream.on('data', (data) => stream.writableEnded || stream.write(data));
  });
  return { opened, ...started };
}

/** A WebSocket that has been opened over HTTP/1.1: the client's socket. */
async function openWebSocket(port: number): Promise<Socket> {
  const socket = openRaw(port);
  socket.allowHalfOpen = true;
  const greeting = receiveUntil(socket, 'hello');
  socket.write(ask);
  await greeting;
  return socket;
}

/** What a client gets that asks for a WebSocket over HTTP/2. */
async function askOverHttp2(port: number): Promise<Http2Answer> {
  const session = openHttp2(port);
  await once(session, 'remoteSettings');
  return answerOf(session.request(extended, { endStream: false }));
}

describe('a WebSocket to a backend that speaks HTTP/2', () => {
  test('is opened by extended CONNECT, and proved to a client that speaks HTTP/1.1', async () => {
    const { port, opened, log, proxy } = await startEchoing();
    const socket = openRaw(port);
    const answer = receiveUntil(socket, 'early');
    // The client does not wait for leave before it sends.
    socket.write(`${ask}early`);
    expect(await answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    for (const field of [
      'connection: upgrade',
      'upgrade: WebSocket',
      'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'sec-websocket-protocol: chat',
      'x-backend: 1',
      'via: 2.0 sallyport',
    ]) {
      expect((await answer).split('\r\n').map((line) => line.toLowerCase())).toContain(field.toLowerCase());
    }
    const [{ headers, stream }] = opened as [(typeof opened)[0]];
    expect(headers).toMatchObject({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':path': '/chat?a=1',
      ':authority': 'a',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat',
      via: '1.1 sallyport',
    });
    for (const name of ['sec-websocket-key', 'upgrade', 'connection', 'content-length'])
      expect(headers).not.toHaveProperty(name);
    socket.end();
    await once(stream, 'end');
    stream.end();
    await once(socket, 'close');
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ status: 101, path: '/chat', bytes: 'helloearly'.length })]),
    );
    expect(log[0]).not.toHaveProperty('reason');
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ requests: 1, openRequests: 0, openConnections: 0 }),
    );
  });

  test('of a client that speaks HTTP/2 too', async () => {
    const { port, opened, log } = await startEchoing();
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    const stream = session.request(extended, { endStream: false });
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head).toMatchObject({ ':status': 200, 'x-backend': '1', via: '2.0 sallyport' });
    expect(head).not.toHaveProperty('sec-websocket-accept');
    expect(opened[0]?.headers).not.toHaveProperty('sec-websocket-key');
    let received = '';
    stream.on('data', (data: Buffer) => (received += data.toString()));
    stream.write('ping');
    await eventually(() => expect(received).toBe('helloping'));
    stream.end();
    await once(opened[0]?.stream as ServerHttp2Stream, 'end');
    opened[0]?.stream.end('bye');
    await once(stream, 'close');
    expect([received, stream.rstCode]).toEqual(['hellopingbye', 0]);
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 200, path: '/chat' })]));
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('each side may end while the other goes on', async () => {
    const { port, opened } = await startEchoing();
    const one = await openWebSocket(port);
    const late = receiveUntil(one, 'late');
    one.end();
    await once(opened[0]?.stream as ServerHttp2Stream, 'end');
    opened[0]?.stream.end('late');
    expect(await late).toBe('late');

    const two = await openWebSocket(port);
    opened[1]?.stream.end();
    await once(two.resume(), 'end');
    let received = '';
    opened[1]?.stream.on('data', (data: Buffer) => (received += data.toString()));
    two.end('late');
    await once(opened[1]?.stream as ServerHttp2Stream, 'end');
    expect(received).toBe('late');
  });

  test('a client that breaks off takes the stream of the backend along', async () => {
    const { port, opened, proxy, backend } = await startEchoing();
    const client = await openWebSocket(port);
    const closed = once(opened[0]?.stream as ServerHttp2Stream, 'close');
    client.resetAndDestroy();
    await closed;
    expect(opened[0]?.stream.rstCode).toBe(8);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
    // The connection to the backend is none of the client's.
    (await openWebSocket(port)).destroy();
    expect(backend.connections()).toBe(1);
  });

  test('a backend that breaks off takes the client along', async () => {
    const { port, opened, proxy } = await startEchoing();
    const client = await openWebSocket(port);
    const ended = once(client.resume(), 'end');
    opened[0]?.stream.close(8);
    await ended;
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
    client.destroy();
  });

  test('a refusal passes', async () => {
    const { port, log } = await startProxyToHttp2((stream) => {
      stream.respond({ ':status': 403, 'x-why': '1' });
      stream.end('no');
    });
    expect(await sendRaw(port, ask)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*x-why: 1\r\n[^]*\r\nno\r\n/i);
    expect(await askOverHttp2(port)).toMatchObject({ status: 403, body: 'no' });
    await eventually(() => expect(log).toHaveLength(2));
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('before it is opened timeouts hold', async () => {
    const code = Promise.withResolvers<number | undefined>();
    const backend = await startHttp2Backend(
      (stream) => stream.on('close', () => code.resolve(stream.rstCode)),
      takesWebSockets,
    );
    const { port } = await startProxy([
      { ...endpointsConfig('app', backend.port), protocol: 'h2c' },
      routeTo('app', { requestTimeout: 40 }),
    ]);
    expect(await sendRaw(port, ask)).toMatch(/^HTTP\/1\.1 504 /);
    expect(await code.promise).toBe(8);
  });
});

describe('a switch of protocols that a backend on HTTP/2 cannot make is refused, and never becomes another request', () => {
  const ok: Http2Listener = (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('ok');
  };

  test.each<[string, string, typeof takesWebSockets]>([
    ['a WebSocket where the backend takes none', ask, { settings: { enableConnectProtocol: false } }],
    ['another protocol', ask.replace('Upgrade: WebSocket', 'Upgrade: echo'), takesWebSockets],
    ['another method', ask.replace('GET', 'OPTIONS'), takesWebSockets],
    ['no key', ask.replace(key, ''), takesWebSockets],
    ['two keys', ask.replace(key, `${key}${key}`), takesWebSockets],
    ['half a key', ask.replace('dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25j'), takesWebSockets],
  ])('%s', async (_name, request, options) => {
    const { port, log, proxy } = await startProxyToHttp2(ok, options);
    expect(await sendRaw(port, request)).toMatch(/^HTTP\/1\.1 501 [^]*does not support the requested protocol upgrade/);
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ status: 501, reason: 'upgrade-unsupported' })]),
    );
    expect(proxy.counters()).toMatchObject({
      upstreamAttempts: 1,
      upstreamConnectFailures: 0,
      reasons: { 'upgrade-unsupported': 1 },
    });
  });

  test('a WebSocket of a client on HTTP/2', async () => {
    const { port, log } = await startProxyToHttp2(ok, { settings: { enableConnectProtocol: false } });
    expect(await askOverHttp2(port)).toMatchObject({ status: 501 });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ reason: 'upgrade-unsupported' })]));
  });

  test('the connection goes on to serve', async () => {
    const { port, backend } = await startProxyToHttp2(ok, { settings: { enableConnectProtocol: false } });
    await sendRaw(port, ask);
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(backend.connections()).toBe(1);
  });
});

test('an answer to a client on HTTP/2 never looks like a switch that did not happen', async () => {
  const { port, log } = await startProxyTo(
    (await startCanned('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage')).port,
  );
  expect(await askOverHttp2(port)).toMatchObject({ status: 501 });
  await eventually(() =>
    expect(log).toEqual([expect.objectContaining({ status: 501, reason: 'upgrade-unsupported' })]),
  );
});
