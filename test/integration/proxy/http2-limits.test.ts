import { once } from 'node:events';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Limit } from '../../../src/proxy/counters.ts';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, frame, frameTypes, literal, openFrames, openHttp2, request } from '../../support/http2.ts';
import type { RawHttp2 } from '../../support/http2.ts';
import { closeProxies, routeTo, startProxy, startProxyTo } from '../../support/proxy.ts';

afterEach(() => {
  jest.restoreAllMocks();
});
afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const get = literal([':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
const post = literal([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);

/** The code of the GOAWAY that ended a connection; writes on until then. */
async function floodedTo(raw: RawHttp2, bytes: (round: number) => Buffer): Promise<number | undefined> {
  let round = 0;
  const closed = raw.closed.then(() => true);
  while (raw.socket.writable && round < 200) {
    if (!raw.socket.write(bytes(round))) await Promise.race([once(raw.socket, 'drain').catch(() => undefined), closed]);
    await new Promise(setImmediate);
    round += 1;
  }
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 2_000))]);
  const goaway = raw.frames.findLast(({ type }) => type === frameTypes.goaway);
  raw.socket.destroy();
  return goaway?.payload.readUInt32BE(4);
}

// RFC 9113 sections 4.2 and 6.2.
const largestFrame = 16_384;
const endStream = 1;
const endHeaders = 4;
// RFC 9113 section 7.
const enhanceYourCalm = 11;

const many = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

/** A proxy whose backend never answers, and the number of requests that reached it. */
async function startSilent(limits = {}) {
  let reached = 0;
  const backend = await startBackend(() => (reached += 1));
  return { ...(await startProxyTo(backend.port, limits)), reached: () => reached };
}

describe('what a client controls is bounded', () => {
  test('streams at the same time', async () => {
    const { port, reached, proxy } = await startSilent({ streamsPerConnection: 3 });
    const raw = openFrames(port);
    raw.socket.write(many(5, (index) => frame('headers', 5, 2 * index + 1, get)));
    await eventually(() =>
      expect(raw.frames.filter(({ type }) => type === frameTypes.reset).map(({ stream }) => stream)).toEqual([7, 9]),
    );
    await eventually(() => expect(reached()).toBe(3));
    expect(proxy.counters().openRequests).toBe(3);
    const settings = raw.frames.find(({ type, flags }) => type === frameTypes.settings && flags === 0)?.payload;
    expect(settings?.includes(Buffer.from([0, 3, 0, 0, 0, 3]))).toBe(true);
    raw.socket.destroy();
  });

  const counted: readonly (readonly [Limit, (round: number) => Buffer])[] = [
    [
      'http2-resets',
      (round) =>
        many(100, (index) =>
          Buffer.concat([
            frame('headers', 5, 200 * round + 2 * index + 1, get),
            frame('reset', 0, 200 * round + 2 * index + 1, Buffer.from([0, 0, 0, 8])),
          ]),
        ),
    ],
    ['http2-pings', () => many(100, () => frame('ping', 0, 0, Buffer.alloc(8)))],
    ['http2-settings', () => many(100, () => frame('settings', 0, 0, Buffer.from([0, 3, 0, 0, 0, 9])))],
    ['http2-priority', () => many(100, (index) => frame('priority', 0, 2 * index + 1, Buffer.from([0, 0, 0, 0, 9])))],
    ['http2-window-updates', () => many(100, () => frame('windowUpdate', 0, 0, Buffer.from([0, 0, 0, 1])))],
    [
      'http2-empty-data',
      (round) =>
        Buffer.concat([
          round === 0 ? frame('headers', 4, 1, post) : Buffer.alloc(0),
          many(100, () => frame('data', 0, 1)),
        ]),
    ],
  ];

  test.each(counted)('%s', async (limit, bytes) => {
    const { port, proxy } = await startSilent();
    const raw = openFrames(port);
    expect(await floodedTo(raw, bytes)).toBe(enhanceYourCalm);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
    expect(proxy.counters().limitsReached[limit]).toBe(1);
    expect(await request(openHttp2((await startProxyTo((await startEcho()).port)).port))).toMatchObject({
      status: 200,
    });
  });

  test('empty DATA frames of a long time do not add up', async () => {
    const { port, proxy } = await startSilent();
    const raw = openFrames(port);
    const isAcknowledged = (): boolean => raw.frames.some(({ type, flags }) => type === frameTypes.ping && flags === 1);
    raw.socket.write(frame('headers', endHeaders, 1, post));
    raw.socket.write(many(1_000, () => frame('data', 0, 1)));
    raw.socket.write(frame('ping', 0, 0, Buffer.alloc(8)));
    await eventually(() => expect(isAcknowledged()).toBe(true));
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    raw.frames.length = 0;
    raw.socket.write(many(1_000, () => frame('data', 0, 1)));
    raw.socket.write(frame('ping', 0, 0, Buffer.alloc(8)));
    await eventually(() => expect(isAcknowledged()).toBe(true));
    expect(proxy.counters()).toMatchObject({ openRequests: 1, openConnections: 1 });
    raw.socket.destroy();
  });

  test('frames earn others: a client that reads a long response may go on updating its window', async () => {
    const backend = await startBackend((_request, response) => response.end(Buffer.alloc(2_000_000)));
    const { port, proxy } = await startProxyTo(backend.port);
    const raw = openFrames(port);
    let received = 0;
    raw.socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
      // Two for each kilobyte, and so more in all than a client may send at once.
      const count = Math.ceil(bytes.length / 1_024);
      raw.socket.write(
        many(count, () =>
          Buffer.concat([1, 0].map((stream) => frame('windowUpdate', 0, stream, Buffer.from([0, 0, 4, 0])))),
        ),
      );
    });
    raw.socket.write(frame('headers', 5, 1, get));
    await eventually(() => expect(received).toBeGreaterThan(2_000_000));
    expect(proxy.counters().limitsReached['http2-window-updates']).toBe(0);
    raw.socket.destroy();
  });

  test('streams that the client makes the proxy reset', async () => {
    const { port, proxy } = await startSilent();
    const raw = openFrames(port);
    const code = await floodedTo(raw, (round) =>
      many(100, (index) => {
        const stream = 200 * round + 2 * index + 1;
        return Buffer.concat([frame('headers', 4, stream, post), frame('windowUpdate', 0, stream, Buffer.alloc(4))]);
      }),
    );
    expect(code).toBeGreaterThan(0);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });

  test.each([
    ['settings', frame('settings', 0, 0, Buffer.from([0, 3, 0, 0, 0, 9]))],
    ['pings', frame('ping', 0, 0, Buffer.alloc(8))],
  ])('%s whose acknowledgements are not read', async (_name, bytes) => {
    const { port, proxy } = await startSilent();
    const raw = openFrames(port);
    raw.socket.pause();
    for (let round = 0; round < 2_000 && !raw.socket.destroyed; round += 1) {
      raw.socket.write(many(100, () => bytes));
      if (round % 50 === 0) await new Promise(setImmediate);
    }
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
    raw.socket.destroy();
  });

  test('CONTINUATION frames', async () => {
    const { port } = await startSilent();
    const raw = openFrames(port);
    raw.socket.write(frame('headers', 1, 1, get));
    expect(
      await floodedTo(raw, () => many(10, () => frame('continuation', 0, 1, literal(['x-a', '1'])))),
    ).toBeGreaterThan(0);
  });

  test('the table of header compression', async () => {
    const { port } = await startSilent();
    const raw = openFrames(port);
    // RFC 7541 section 6.3: a client that wants 8,192 bytes.
    raw.socket.write(
      frame('headers', endStream | endHeaders, 1, Buffer.concat([Buffer.from([0x3f, 0xe1, 0x3f]), get])),
    );
    await raw.closed;
    const compressionError = 9;
    expect(raw.frames.find(({ type }) => type === frameTypes.goaway)?.payload.readUInt32BE(4)).toBe(compressionError);
  });

  /** A proxy that has got a request with these fields by bare frames: a client of node:http2 would refuse to send it. */
  async function sendFields(count: number, value: string) {
    const started = await startProxyTo((await startEcho()).port);
    const raw = openFrames(started.port);
    const bytes = Buffer.concat([get, ...Array.from({ length: count }, (_, index) => literal([`x-${index}`, value]))]);
    for (let start = 0; start < bytes.length; start += largestFrame) {
      const flags = (start === 0 ? endStream : 0) | (start + largestFrame >= bytes.length ? endHeaders : 0);
      raw.socket.write(
        frame(start === 0 ? 'headers' : 'continuation', flags, 1, bytes.subarray(start, start + largestFrame)),
      );
    }
    return { ...started, raw };
  }

  test('bytes of the header section, before the client acknowledges the settings', async () => {
    const { port, proxy, log, raw } = await sendFields(190, 'a'.repeat(240));
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ status: 431, reason: 'headers-too-large' })]),
    );
    expect(proxy.counters().upstreamAttempts).toBe(0);
    raw.socket.destroy();
    expect(await request(openHttp2(port))).toMatchObject({ status: 200 });
  });

  test('fields', async () => {
    const { port, proxy, raw } = await sendFields(400, '1');
    await eventually(() =>
      expect(raw.frames).toContainEqual({
        type: frameTypes.reset,
        flags: 0,
        stream: 1,
        payload: Buffer.from([0, 0, 0, enhanceYourCalm]),
      }),
    );
    expect(proxy.counters().upstreamAttempts).toBe(0);
    raw.socket.destroy();
    expect(await request(openHttp2(port))).toMatchObject({ status: 200 });
  });

  test('the time that a connection may be idle', async () => {
    const { port } = await startProxy([], { limits: { idleTimeout: 50 } });
    const raw = openFrames(port);
    const half = openFrames(port);
    half.socket.write(frame('headers', 1, 1, get));
    await Promise.all([raw.closed, half.closed]);
    for (const { frames } of [raw, half])
      expect(frames).toContainEqual(expect.objectContaining({ type: frameTypes.goaway }));
  });

  test('a connection with a request under way is not idle', async () => {
    const release = Promise.withResolvers<void>();
    const backend = await startBackend((_incoming, response) => void release.promise.then(() => response.end('late')));
    const { port } = await startProxyTo(backend.port, { idleTimeout: 30 });
    const session = openHttp2(port);
    const answer = request(session);
    // Until another connection has been found idle.
    const idle = openFrames(port);
    await eventually(() => expect(idle.frames).toContainEqual(expect.objectContaining({ type: frameTypes.goaway })));
    release.resolve();
    expect(await answer).toMatchObject({ status: 200, body: 'late' });
  });

  test('the time that a body may stall', async () => {
    const { port, log } = await startProxyTo((await startEcho()).port, { stallTimeout: 50 });
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.write('half');
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(408);
    await eventually(() => expect(log).toEqual([expect.objectContaining({ reason: 'body-timeout' })]));
  });

  test('the time that an answer may wait for a window', async () => {
    const { port, proxy } = await startProxy([endpointsConfig('app', (await startEcho()).port), routeTo('app')], {
      limits: { stallTimeout: 50 },
    });
    const raw = openFrames(port);
    raw.socket.write(frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])));
    raw.socket.write(
      Buffer.concat([
        frame('headers', 5, 1, get),
        frame(
          'headers',
          5,
          3,
          literal([':method', 'GET'], [':scheme', 'http'], [':path', '/%zz'], [':authority', 'a']),
        ),
      ]),
    );
    await eventually(() => expect(raw.frames.filter(({ type }) => type === frameTypes.reset)).toHaveLength(2));
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
    raw.socket.destroy();
  });
});

// Requests beyond the limit get a response, and thousands of them arrive with their bodies.
test('the body of a request beyond the limit is not copied', async () => {
  const { port, log } = await startSilent({ requests: 1 });
  const copies = jest.spyOn(Buffer, 'allocUnsafeSlow');
  const raw = openFrames(port);
  const body = Buffer.alloc(1_234);
  raw.socket.write(
    many(8, (index) =>
      Buffer.concat([frame('headers', endHeaders, 2 * index + 1, post), frame('data', 0, 2 * index + 1, body)]),
    ),
  );
  await eventually(() => expect(log.filter(({ status }) => status === 503)).toHaveLength(7));
  expect(copies.mock.calls.filter(([size]) => size === body.length).length).toBeLessThanOrEqual(1);
  raw.socket.destroy();
});

test('requests that arrive together begin in several turns if they take long', async () => {
  let time = 0;
  let turn = 0;
  const turns: number[] = [];
  const { port } = await startProxy([], { now: () => (time += 6), accessLog: () => turns.push(turn) });
  const countTurns = (): void => {
    turn += 1;
    if (turns.length < 8) setImmediate(countTurns);
  };
  countTurns();
  const raw = openFrames(port);
  raw.socket.write(many(8, (index) => frame('headers', endHeaders | endStream, 2 * index + 1, get)));
  await eventually(() => expect(turns).toHaveLength(8));
  // The first two may begin before and after the poll of the same turn.
  expect(new Set(turns).size).toBeGreaterThanOrEqual(7);
  expect(raw.frames.filter(({ type }) => type === frameTypes.headers)).toHaveLength(8);
  raw.socket.destroy();
});
