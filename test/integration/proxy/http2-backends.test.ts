import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import type { Authority } from '../../../src/certificates/index.ts';
import {
  closeBackends,
  refusingPort,
  startEcho,
  startHttp2Backend,
  startNegotiatingBackend,
  startRawBackend,
  startSecureHttp1Backend,
} from '../../support/backends.ts';
import type { Http2Listener } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, frame, openHttp2, preface, request } from '../../support/http2.ts';
import { closeProxies, routeTo, send, startProxy } from '../../support/proxy.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { Http2Connection } from '../../../src/proxy/upstream/http2-connection.ts';
import type { RouteRule } from '../../../src/core/routing/config.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

interface Parts {
  readonly limits?: Partial<ProxyLimits>;
  readonly rule?: Partial<RouteRule>;
}

/** A proxy to backends that speak HTTP/2 without TLS. */
function startProxyToHttp2(ports: readonly number[], { limits = {}, rule = {} }: Parts = {}) {
  return startProxy([{ ...endpointsConfig('app', ...ports), protocol: 'h2c' }, routeTo('app', rule)], { limits });
}

const echo: Http2Listener = (stream, headers) => {
  let body = '';
  stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'x-two': ['1', '2'] });
    stream.end(JSON.stringify({ headers, body }));
  });
};

const ok: Http2Listener = (stream) => {
  stream.respond({ ':status': 200 });
  stream.end('ok');
};

describe('a backend that speaks HTTP/2', () => {
  test('gets the request of a client that speaks HTTP/1.1', async () => {
    const backend = await startHttp2Backend(echo);
    const { port } = await startProxyToHttp2([backend.port]);
    const answer = await send(port, '/a?b=1', {
      method: 'POST',
      body: 'body',
      headers: { host: 'shop.example:81', 'X-Mixed': ['1', '2'], connection: 'close, x-hop', 'x-hop': '1' },
    });
    expect(answer).toMatchObject({ status: 200, headers: { 'x-two': '1, 2', via: '2.0 sallyport' } });
    const { headers, body } = JSON.parse(answer.body) as { headers: Record<string, string>; body: string };
    expect(body).toBe('body');
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/a?b=1',
      ':scheme': 'http',
      ':authority': 'shop.example:81',
      'x-mixed': '1, 2',
      'content-length': '4',
      via: '1.1 sallyport',
    });
    for (const name of ['host', 'x-hop', 'connection', 'transfer-encoding']) expect(headers).not.toHaveProperty(name);
  });

  test('many requests share a connection; more are made only where it is full', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream), { settings: { maxConcurrentStreams: 2 } });
    const { port } = await startProxyToHttp2([backend.port]);
    const answers = Array.from({ length: 5 }, () => send(port, '/'));
    await eventually(() => expect(held).toHaveLength(5));
    expect(backend.connections()).toBe(3);
    for (const stream of held) ok(stream, {});
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('a response looks at its own connection, not at all connections of the endpoint', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream), { settings: { maxConcurrentStreams: 1 } });
    const { port } = await startProxyToHttp2([backend.port]);
    const answers = Array.from({ length: 60 }, () => send(port, '/'));
    await eventually(() => expect(held.length).toBe(60));
    const looks = jest.spyOn(Http2Connection.prototype, 'room', 'get');
    try {
      for (const stream of held) ok(stream, {});
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(looks.mock.calls.length).toBeLessThanOrEqual(5 * 60);
    } finally {
      looks.mockRestore();
    }
  });

  test('where no more connections may be made a request waits for its turn', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream), { settings: { maxConcurrentStreams: 1 } });
    const { port, proxy } = await startProxyToHttp2([backend.port], { limits: { connectionsPerEndpoint: 1 } });
    const answers = [send(port, '/'), send(port, '/')];
    await eventually(() => expect(proxy.counters().upstreamAttempts).toBe(2));
    await eventually(() => expect(held).toHaveLength(1));
    ok(held[0] as ServerHttp2Stream, {});
    await eventually(() => expect(held).toHaveLength(2));
    ok(held[1] as ServerHttp2Stream, {});
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    expect(backend.connections()).toBe(1);
  });

  test('a connection that has carried its share makes room for another', async () => {
    const backend = await startHttp2Backend(ok);
    const { port } = await startProxyToHttp2([backend.port], { limits: { requestsPerBackendConnection: 2 } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(port, '/')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(backend.connections()).toBe(3);
    await eventually(() => expect(backend.sessions.filter(({ destroyed }) => destroyed)).toHaveLength(2));
  });

  test('a connection that allows no more requests does not keep others from being opened after it', async () => {
    const backend = await startHttp2Backend(ok);
    const { port } = await startProxyToHttp2([backend.port]);
    expect((await send(port, '/')).status).toBe(200);
    const [session] = backend.sessions;
    await new Promise((resolve) => session?.settings({ maxConcurrentStreams: 0 }, resolve));
    const waiting = send(port, '/');
    session?.destroy();
    expect((await waiting).status).toBe(200);
    expect((await send(port, '/')).status).toBe(200);
    expect(backend.connections()).toBe(2);
  });

  test('a connection that allows no more requests leaves the room of the others', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream), { settings: { maxConcurrentStreams: 1 } });
    const { port } = await startProxyToHttp2([backend.port]);
    const answers = [send(port, '/'), send(port, '/')];
    await eventually(() => expect(held).toHaveLength(2));
    for (const stream of held) ok(stream, {});
    await Promise.all(answers);
    await new Promise((resolve) => backend.sessions[1]?.settings({ maxConcurrentStreams: 0 }, resolve));
    const next = send(port, '/');
    await eventually(() => expect(held).toHaveLength(3));
    ok(held[2] as ServerHttp2Stream, {});
    expect((await next).status).toBe(200);
    expect(backend.connections()).toBe(2);
  });

  test('requests in flight on connections that have ended leave room for one that follows', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream));
    const { port } = await startProxyToHttp2([backend.port], { limits: { connectionsPerEndpoint: 2 } });
    const answers = Array.from({ length: 4 }, () => send(port, '/'));
    await eventually(() => expect(held).toHaveLength(4));
    backend.sessions[0]?.goaway();
    answers.push(send(port, '/'));
    await eventually(() => expect(held).toHaveLength(5));
    for (const stream of held) ok(stream, {});
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(backend.connections()).toBe(2);
  });

  test('trailers go both ways', async () => {
    const received = Promise.withResolvers<unknown>();
    const backend = await startHttp2Backend((stream) => {
      stream.on('trailers', received.resolve).resume();
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'answer' }));
      stream.end('ok');
    });
    const { port } = await startProxyToHttp2([backend.port]);
    const stream = openHttp2(port).request(
      { ':authority': 'a', ':path': '/', ':method': 'POST' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'request' }));
    stream.end('body');
    expect(await answerOf(stream)).toMatchObject({ body: 'ok', trailers: { 'x-sum': 'answer' } });
    expect(await received.promise).toEqual(expect.objectContaining({ 'x-sum': 'request' }));
  });

  test('interim answers pass', async () => {
    const backend = await startHttp2Backend((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a>' });
      ok(stream, {});
    });
    const { port } = await startProxyToHttp2([backend.port]);
    expect(await request(openHttp2(port))).toMatchObject({ status: 200, interim: [103], body: 'ok' });
  });

  test('both directions flow at the same time', async () => {
    const backend = await startHttp2Backend((stream) => {
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    });
    const { port } = await startProxyToHttp2([backend.port]);
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.write('ping');
    expect((await once(stream, 'data')).toString()).toBe('ping');
    stream.write('pong');
    expect((await once(stream, 'data')).toString()).toBe('pong');
    stream.end();
    await once(stream, 'end');
  });

  test('an answer before the end of the body ends both', async () => {
    const reset = Promise.withResolvers<unknown>();
    const backend = await startHttp2Backend((stream) => {
      stream.on('close', () => reset.resolve(stream.rstCode));
      stream.respond({ ':status': 413 });
      stream.end('big');
    });
    const { port } = await startProxyToHttp2([backend.port]);
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.write('begin');
    expect(await answerOf(stream)).toMatchObject({ status: 413, body: 'big', code: 0 });
    await reset.promise;
  });

  test('a client that leaves cancels', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>();
    const backend = await startHttp2Backend((stream) => arrived.resolve(stream));
    const { port } = await startProxyToHttp2([backend.port]);
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.on('error', () => undefined);
    stream.write('half');
    const arrivedStream = await arrived.promise;
    const closed = once(arrivedStream, 'close');
    stream.close(8);
    await closed;
    expect(arrivedStream.rstCode).toBe(8);
    // The connection serves others.
    expect(backend.sessions[0]?.destroyed).toBe(false);
  });

  test.each([
    ['reset', (stream: ServerHttp2Stream) => stream.close(2)],
    ['the end of the connection', (stream: ServerHttp2Stream) => stream.session?.destroy()],
  ])('a %s in the middle of an answer is never taken for its end', async (_name, breakOff) => {
    const backend = await startHttp2Backend((stream) => {
      // Without trailers to wait for, Node ends a stream before it resets it.
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.write('half', () => setImmediate(breakOff, stream));
    });
    const { port, log } = await startProxyToHttp2([backend.port]);
    expect(await request(openHttp2(port))).toMatchObject({ status: 200, code: 2 });
    await expect(send(port, '/')).rejects.toThrow('aborted');
    await eventually(() => expect(log.map(({ reason }) => reason)).toEqual(['backend-reset', 'backend-reset']));
  });

  test('a new connection is made after one that ended', async () => {
    const backend = await startHttp2Backend(ok);
    const { port } = await startProxyToHttp2([backend.port]);
    expect(await send(port, '/')).toMatchObject({ status: 200 });
    const [session] = backend.sessions;
    if (session !== undefined) {
      session.destroy();
      await eventually(() => expect(session.socket?.destroyed ?? true).toBe(true));
    }
    await eventually(async () => expect((await send(port, '/')).status).toBe(200));
    expect(backend.connections()).toBe(2);
  });

  test('after GOAWAY requests go to another connection, and those under way end', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream));
    const { port } = await startProxyToHttp2([backend.port]);
    const first = send(port, '/');
    await eventually(() => expect(held).toHaveLength(1));
    backend.sessions[0]?.close();
    const answers: Promise<unknown>[] = [];
    await eventually(() => {
      answers.push(send(port, '/').then(({ status }) => status));
      expect(backend.connections()).toBe(2);
    });
    await eventually(() => expect(held.length).toBe(1 + answers.length));
    for (const stream of held) ok(stream, {});
    expect(await first).toMatchObject({ status: 200, body: 'ok' });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  });

  test('the endpoint can be released while a request is under way', async () => {
    const held: ServerHttp2Stream[] = [];
    const backend = await startHttp2Backend((stream) => held.push(stream));
    const { port, apply } = await startProxyToHttp2([backend.port]);
    const answer = send(port, '/');
    await eventually(() => expect(held).toHaveLength(1));
    await apply({ ...endpointsConfig('app'), protocol: 'h2c' });
    const ended = once(backend.sessions[0]!, 'close');
    ok(held[0] as ServerHttp2Stream, {});
    expect(await answer).toMatchObject({ status: 200 });
    await ended;
  });
});

describe('a request that the backend refused without looking at it', () => {
  test('goes elsewhere, with any method and the whole body', async () => {
    const refusing = await startHttp2Backend((stream) => stream.close(7));
    const backend = await startHttp2Backend(echo);
    const { port, log } = await startProxyToHttp2([refusing.port, backend.port]);
    const answer = await send(port, '/', { method: 'POST', body: 'whole' });
    expect(JSON.parse(answer.body)).toMatchObject({ body: 'whole' });
    expect(refusing.connections()).toBe(1);
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('is answered 503 where nobody takes it', async () => {
    const refusing = await startHttp2Backend((stream) => stream.close(7));
    const { port, proxy, log } = await startProxyToHttp2([refusing.port]);
    expect((await send(port, '/')).status).toBe(503);
    expect(proxy.counters().upstreamAttempts).toBeLessThanOrEqual(3);
    expect(log).toEqual([expect.objectContaining({ reason: 'backend-refused' })]);
  });
});

describe('a backend that cannot be reached by HTTP/2', () => {
  test('refused connections are tried elsewhere', async () => {
    const backend = await startHttp2Backend(ok);
    const { port } = await startProxyToHttp2([await refusingPort(), backend.port]);
    expect((await send(port, '/')).status).toBe(200);
  });

  test('503 where none comes about', async () => {
    const { port, log } = await startProxyToHttp2([await refusingPort()]);
    expect((await send(port, '/')).status).toBe(503);
    expect(log).toEqual([expect.objectContaining({ reason: 'connect-failed' })]);
  });

  test('502 where HTTP/1.1 is spoken', async () => {
    const { port, log } = await startProxyToHttp2([(await startEcho()).port]);
    expect((await send(port, '/')).status).toBe(502);
    expect(log).toEqual([expect.objectContaining({ reason: 'backend-protocol' })]);
  });

  test('503 where settings never come', async () => {
    const silent = await startRawBackend((socket) => socket.resume());
    const { port } = await startProxyToHttp2([silent.port], { limits: { connectTimeout: 50 } });
    expect((await send(port, '/')).status).toBe(503);
  });

  test('a backend that says goodbye at once is not tried for ever', async () => {
    const leaving = await startRawBackend((socket) => {
      socket.end(Buffer.concat([preface.subarray(24), frame('goaway', 0, 0, Buffer.alloc(8))]));
      socket.resume();
    });
    const { port } = await startProxyToHttp2([leaving.port]);
    expect((await send(port, '/')).status).toBe(503);
    expect(leaving.connections()).toBeLessThanOrEqual(3);
  });
});

describe('over TLS', () => {
  let authority: Authority;
  let pair: { cert: string; key: string };
  beforeAll(async () => {
    authority = await createAuthority();
    const { certificate, privateKey } = await issueServingCertificate(authority, {
      dnsNames: ['inner.example'],
      ipAddresses: [],
    });
    pair = { cert: certificate, key: privateKey };
  });

  const startProxyOver = (port: number) => {
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
    return startProxy([{ ...endpointsConfig('app', port), tls }, routeTo('app')]);
  };

  test.each([
    ['2.0', startNegotiatingBackend],
    ['1.1', startSecureHttp1Backend],
  ])('HTTP/%s is spoken where the backend takes it', async (version, start) => {
    const backend = await start(pair);
    const { port } = await startProxyOver(backend.port);
    const answers = await Promise.all([send(port, '/'), send(port, '/')]);
    expect(answers.map(({ body }) => body)).toEqual([version, version]);
    expect((await send(port, '/')).body).toBe(version);
    expect(backend.connections()).toBeLessThanOrEqual(version === '2.0' ? 1 : 2);
  });

  test('a gRPC call goes nowhere where only HTTP/1.1 is taken', async () => {
    const backend = await startSecureHttp1Backend(pair);
    const { port, log } = await startProxyOver(backend.port);
    const answer = await request(openHttp2(port), { ':method': 'POST', 'content-type': 'application/grpc' }, 'x');
    expect(answer.headers).toMatchObject({ 'grpc-status': '14' });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ reason: 'backend-protocol' })]));
  });
});

test('requests that wait for a connection are sent in several turns if they take long', async () => {
  const sockets: Socket[] = [];
  const backend = await startRawBackend((socket) => sockets.push(socket.on('error', () => undefined)));
  const { port, proxy } = await startProxyToHttp2([backend.port]);
  const answers = Promise.allSettled(Array.from({ length: 20 }, () => send(port, '/')));
  await eventually(() => expect([proxy.counters().openRequests, sockets.length]).toEqual([20, 1]));
  const sent = jest.spyOn(Http2Connection.prototype, 'take');
  const turns: number[] = [];
  let turn = 0;
  const countTurns = (): void => {
    turn += 1;
    while (turns.length < sent.mock.calls.length) turns.push(turn);
    if (turns.length < 20) setImmediate(countTurns);
  };
  countTurns();
  let time = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (time += 6));
  // Only now requests may be sent.
  sockets[0]?.write(frame('settings', 0, 0, Buffer.alloc(0)));
  while (turns.length < 20) await new Promise(setImmediate);
  clock.mockRestore();
  sent.mockRestore();
  expect(new Set(turns).size).toBeGreaterThan(4);
  for (const socket of sockets) socket.destroy();
  await answers;
});
