import { once } from 'node:events';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { closeBackends, startBackend, startCanned, startEcho } from '../../support/backends.ts';
import type { Echo } from '../../support/backends.ts';
import { eventually } from '../../support/eventually.ts';
import {
  answerOf,
  closeHttp2,
  frame,
  frameTypes,
  literal,
  openFrames,
  openHttp2,
  preface,
  request,
} from '../../support/http2.ts';
import type { ReceivedFrame } from '../../support/http2.ts';
import { closeProxies, fieldValues, openRaw, sendRaw, startProxy, startProxyTo, web } from '../../support/proxy.ts';
import { traceContextOf, traceContexts } from '../../support/trace-context.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const get = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
] as const;

describe('HTTP/2 by prior knowledge', () => {
  test('is served beside HTTP/1.1 on one port', async () => {
    const { port, log } = await startProxyTo((await startEcho()).port);
    const session = openHttp2(port);
    const answers = await Promise.all([
      request(session, { ':path': '/1?a=1' }),
      request(session, { ':path': '/2', ':method': 'POST' }, 'body'),
    ]);
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [200, 0],
      [200, 0],
    ]);
    const [first, second] = answers.map(({ body }) => JSON.parse(body) as Echo);
    expect(first).toMatchObject({ method: 'GET', target: '/1?a=1', body: '' });
    expect(second).toMatchObject({ method: 'POST', target: '/2', body: 'body' });
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    await eventually(() =>
      expect(log.map(({ status, path }) => [status, path])).toEqual([
        [200, '/1'],
        [200, '/2'],
        [200, '/'],
      ]),
    );
  });

  test('a preface that comes in pieces is recognised', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const socket = openRaw(port);
    const received = once(socket, 'data');
    socket.write(preface.subarray(0, 10));
    await new Promise(setImmediate);
    socket.write(preface.subarray(10));
    const [settings] = (await received) as [Buffer];
    expect(settings[3]).toBe(frameTypes.settings);
    socket.destroy();
  });

  test('the fields that a backend sees are those of HTTP/1.1', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const { body } = await request(openHttp2(port), {
      ':authority': 'shop.example:81',
      cookie: ['a=1', 'b=2'],
      'x-two': ['1', '2'],
      te: 'trailers',
    });
    const seen = JSON.parse(body) as Echo;
    expect(fieldValues(seen, 'host')).toEqual(['shop.example:81']);
    expect(fieldValues(seen, 'cookie')).toEqual(['a=1; b=2']);
    expect(fieldValues(seen, 'x-two').join(', ')).toBe('1, 2');
    expect(fieldValues(seen, 'te')).toEqual(['trailers']);
    expect(fieldValues(seen, 'via')).toEqual(['2.0 sallyport']);
    expect(fieldValues(seen, 'x-forwarded-host')).toEqual(['shop.example:81']);
    expect(seen.fields.filter((name, position) => position % 2 === 0 && name.startsWith(':'))).toEqual([]);
  });

  test.each(traceContexts)('a trace context is forwarded unchanged: $traceparent', async (headers) => {
    const { port } = await startProxyTo((await startEcho()).port);
    const { body } = await request(openHttp2(port), headers);
    expect(traceContextOf(JSON.parse(body) as Echo)).toEqual(headers);
  });

  test('the answer keeps its fields but for those of one connection', async () => {
    const answer =
      'HTTP/1.1 200 OK\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-Two: 1\r\nX-Two: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok';
    const { port } = await startProxyTo((await startCanned(answer)).port);
    const { headers, body } = await request(openHttp2(port));
    expect(body).toBe('ok');
    expect(headers).toMatchObject({
      'x-two': '1, 2',
      'set-cookie': ['a=1', 'b=2'],
      via: '1.1 sallyport',
      'content-length': '2',
    });
    for (const name of ['connection', 'x-hop', 'keep-alive', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(name);
  });

  test('trailers of an answer go on', async () => {
    const answer =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nHost: b\r\n\r\n';
    const { port } = await startProxyTo((await startCanned(answer)).port);
    const { body, trailers } = await request(openHttp2(port));
    expect(body).toBe('ok');
    expect(trailers).toMatchObject({ 'x-sum': '1' });
    expect(trailers).not.toHaveProperty('host');
  });

  test.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', 200],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n', 304],
    ['GET', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 200],
  ])('an answer without a body: %s %s', async (method, canned, status) => {
    const { port, log } = await startProxyTo((await startCanned(canned)).port);
    expect(await request(openHttp2(port), { ':method': method })).toMatchObject({
      status,
      body: '',
      code: 0,
      headOnly: true,
    });
    await eventually(() => expect(log).toEqual([expect.not.objectContaining({ reason: expect.anything() })]));
  });

  test('interim answers and leave to send the body', async () => {
    const backend = await startBackend((incoming, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      incoming.pipe(response);
    });
    const { port } = await startProxyTo(backend.port);
    const stream = openHttp2(port).request({
      ':authority': 'a',
      ':path': '/',
      ':method': 'POST',
      expect: '100-continue',
    });
    stream.on('continue', () => stream.end('now'));
    const answer = await answerOf(stream);
    expect(answer).toMatchObject({ status: 200, body: 'now' });
    expect(answer.interim).toEqual(expect.arrayContaining([100, 103]));
  });

  test.each(['Content-Length: 4\r\n\r\nbody', 'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n'])(
    'a small response ends with its only piece of data: %j',
    async (rest) => {
      const { port } = await startProxyTo((await startCanned(`HTTP/1.1 200 OK\r\n${rest}`)).port);
      const { socket, frames } = openFrames(port);
      socket.write(
        frame('headers', 5, 1, literal([':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', 'a'])),
      );
      await eventually(() => expect(frames.some(({ stream, flags }) => stream === 1 && (flags & 1) === 1)).toBe(true));
      expect(frames.filter(({ stream }) => stream === 1).map(({ type, flags }) => [type, flags])).toEqual([
        [frameTypes.headers, 4],
        [frameTypes.data, 1],
      ]);
      socket.destroy();
    },
  );

  test('an answer before the end of the body lets the client stop', async () => {
    const { port, log } = await startProxy([]);
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.write('begin');
    expect(await answerOf(stream)).toMatchObject({ status: 404, body: expect.stringContaining('No route'), code: 0 });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 404, reason: 'no-route' })]));
  });

  test('a client that leaves takes the request to the backend with it', async () => {
    const gone = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const backend = await startBackend((incoming) => {
      arrived.resolve();
      incoming.on('close', () => gone.resolve());
    });
    const { port, log, proxy } = await startProxyTo(backend.port);
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/' });
    await arrived.promise;
    stream.close(8);
    await gone.promise;
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 499, reason: 'client-aborted' })]));
    expect(proxy.counters().openRequests).toBe(0);
  });

  test('an answer that breaks off is never taken for a whole one', async () => {
    const { port } = await startProxyTo((await startCanned('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')).port);
    const session = openHttp2(port);
    expect(await request(session)).toMatchObject({ status: 200, code: 2 });
    expect(session.destroyed).toBe(false);
  });

  test('where only TLS is served it is closed', async () => {
    const { port, proxy } = await startProxy([]);
    await proxy.apply({ upserts: [{ ...web, protocol: 'HTTPS' }], removals: [] });
    const { closed, frames } = openFrames(port);
    await closed;
    expect(frames).toEqual([]);
  });
});

describe('what RFC 9113 forbids', () => {
  test.each([
    ['Connection', [...get, ['connection', 'close']]],
    ['Transfer-Encoding', [...get, ['transfer-encoding', 'chunked']]],
    ['Upgrade', [...get, ['upgrade', 'websocket']]],
    ['Keep-Alive', [...get, ['keep-alive', '1']]],
    ['Proxy-Connection', [...get, ['proxy-connection', 'keep-alive']]],
    ['TE other than trailers', [...get, ['te', 'gzip']]],
    ['a name in upper case', [...get, ['X-A', '1']]],
    ['a colon in a name', [...get, ['x:a', '1']]],
    ['a line break in a value', [...get, ['x-a', '1\r\nx-b: 2']]],
    ['a NUL in a value', [...get, ['x-a', '1\0']]],
    ['a space at the end of a value', [...get, ['x-a', '1 ']]],
    ['a line break in the path', [...get.filter(([name]) => name !== ':path'), [':path', '/\r\nx-b: 2']]],
    ['a protocol without CONNECT', [...get, [':protocol', 'websocket']]],
    ['two lengths', [...get, ['content-length', '0'], ['content-length', '0']]],
    ['a length that is not a number', [...get, ['content-length', '+0']]],
    ['a pseudo-header field after others', [...get.slice(0, 3), ['x-a', '1'], [':authority', 'a']]],
    ['an unknown pseudo-header field', [...get, [':other', '1']]],
    ['a pseudo-header field twice', [...get, [':path', '/2']]],
    ['an authority with a user', [...get.slice(0, 3), [':authority', 'u@a']]],
    ['no path', get.filter(([name]) => name !== ':path')],
    ['an empty path', [...get.filter(([name]) => name !== ':path'), [':path', '']]],
    ['a length that is not that of the body', [...get, ['content-length', '3']]],
  ] as [string, [string, string][]][])('%s resets the stream', async (_name, fields) => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const { socket, frames } = openFrames(port);
    socket.write(frame('headers', 5, 1, literal(...fields)));
    await eventually(() =>
      expect(frames).toContainEqual(expect.objectContaining({ type: frameTypes.reset, stream: 1 })),
    );
    expect(frames.some(({ type }) => type === frameTypes.headers)).toBe(false);
    expect(proxy.counters().responses['2xx']).toBe(0);
    socket.destroy();
  });

  test.each([
    ['an authority and a Host that differ', 400, { host: 'b' }],
    ['a stray percent sign', 400, { ':path': '/%zz' }],
    ['another expectation', 417, { expect: 'more' }],
    ['CONNECT', 501, { ':method': 'CONNECT', ':path': undefined, ':scheme': undefined }],
    ['a target that is too long', 414, { ':path': `/${'a'.repeat(9_000)}` }],
  ])('%s is answered %i', async (_name, status, headers) => {
    const { port } = await startProxyTo((await startEcho()).port);
    expect(await request(openHttp2(port), headers)).toMatchObject({ status });
  });

  test('an authority and the same Host are one', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const { body } = await request(openHttp2(port), { ':authority': 'shop.example', host: 'Shop.example' });
    expect(fieldValues(JSON.parse(body) as Echo, 'host')).toHaveLength(1);
  });
});

describe('the end', () => {
  test('GOAWAY, then requests under way are completed and idle connections end', async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const backend = await startBackend((_incoming, response) => {
      arrived.resolve();
      void release.promise.then(() => response.end('late'));
    });
    const { port, proxy } = await startProxyTo(backend.port);
    const [busy, idle] = [openHttp2(port), openHttp2(port)];
    await once(idle, 'remoteSettings');
    const answer = request(busy);
    await arrived.promise;
    const told = Promise.all([busy, idle].map((session) => once(session, 'goaway')));
    const idleEnded = once(idle, 'close');
    const closed = proxy.close({ graceMs: 60_000 });
    expect((await told).map(([code]) => code as number)).toEqual([0, 0]);
    await idleEnded;
    release.resolve();
    expect(await answer).toMatchObject({ status: 200, body: 'late', code: 0 });
    await closed;
    expect(proxy.counters()).toMatchObject({ openConnections: 0, openRequests: 0 });
  });

  test('GOAWAY names the last request that is served', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const { socket, frames, closed } = openFrames(port);
    socket.write(frame('headers', 5, 1, literal(...get)));
    await eventually(() => expect(frames).toContainEqual(expect.objectContaining({ type: frameTypes.data, flags: 1 })));
    await Promise.all([closed, proxy.close({ graceMs: 60_000 })]);
    expect(frames.find(({ type }) => type === frameTypes.goaway)?.payload.subarray(0, 8)).toEqual(
      Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]),
    );
  });

  test('what outlasts the time of grace is cut off', async () => {
    const arrived = Promise.withResolvers<void>();
    const backend = await startBackend(() => arrived.resolve());
    const { port, proxy } = await startProxyTo(backend.port);
    const answer = request(openHttp2(port));
    await arrived.promise;
    await proxy.close({ graceMs: 1 });
    expect(await answer).toMatchObject({ status: 0 });
  });
});

test('an idle client that closes its side is let go', async () => {
  const { port, proxy } = await startProxy([]);
  const idle = openFrames(port);
  idle.socket.allowHalfOpen = true;
  await eventually(() => expect(idle.frames).not.toEqual([]));
  idle.socket.end();
  await idle.closed;
  await eventually(() => expect(proxy.counters()).toMatchObject({ openConnections: 0, openRequests: 0 }));
});

describe('a client that is slow to read', () => {
  const size = 2 * 1024 * 1024;
  const bodyOf = (frames: readonly ReceivedFrame[]) =>
    frames.filter(({ type }) => type === frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0);

  afterEach(() => {
    jest.useRealTimers();
  });

  /** A client whose answer has been sent as a whole, and that has read nothing of it when the proxy closes. */
  async function startUnread() {
    const backend = await startBackend((_incoming, response) => response.end(Buffer.alloc(size)));
    const started = await startProxyTo(backend.port);
    const raw = openFrames(started.port);
    raw.socket.pause();
    // The windows of stream and connection hold all of it.
    raw.socket.write(
      Buffer.concat([
        frame('settings', 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])),
        frame('windowUpdate', 0, 0, Buffer.from([0x7f, 0, 0, 0])),
      ]),
    );
    raw.socket.write(frame('headers', 5, 1, literal(...get)));
    await eventually(() => expect(started.proxy.counters().responses['2xx']).toBe(1));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'Date'] });
    const ended = started.proxy.close({ graceMs: 1_000_000 });
    while (jest.getTimerCount() === 0) await new Promise(setImmediate);
    return { ...started, ...raw, ended };
  }

  test('gets all that was sent before its connection ends', async () => {
    const { socket, frames, closed, ended } = await startUnread();
    jest.advanceTimersByTime(30_000);
    // Room for more, as clients make it while they read.
    socket.write(frame('windowUpdate', 0, 0, Buffer.from([0, 0, 1, 0])));
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    socket.resume();
    await Promise.all([closed, ended]);
    expect(bodyOf(frames)).toBe(size);
  });

  test('is let go when it reads nothing at all', async () => {
    const { proxy, ended } = await startUnread();
    jest.advanceTimersByTime(60_000);
    await ended;
    expect(proxy.counters().openConnections).toBe(0);
  });
});
