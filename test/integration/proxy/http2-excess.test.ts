import { afterEach, expect, jest, test } from '@jest/globals';
import { closeBackends, startBackend, startEcho, startRawBackend } from '../../support/backends.ts';
import { eventually } from '../../support/eventually.ts';
import { frame, frameTypes, literal, openFrames } from '../../support/http2.ts';
import type { RawHttp2 } from '../../support/http2.ts';
import { closeProxies, startProxy, startProxyTo } from '../../support/proxy.ts';

afterEach(() => {
  jest.restoreAllMocks();
});
afterEach(closeProxies);
afterEach(closeBackends);

const head = [
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
] as const;
const get = literal([':method', 'GET'], ...head);
const post = literal([':method', 'POST'], ...head);
const websocket = literal([':method', 'CONNECT'], [':protocol', 'websocket'], ...head);

const endStream = 1;
const endHeaders = 4;
// RFC 9113 section 7.
const enhanceYourCalm = 11;
const protocolError = 1;
const windowOfStream = 256 * 1024;

function repeated(count: number, make: (index: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
}

function codeOf({ frames }: RawHttp2, type: 'reset' | 'goaway'): number | undefined {
  return frames.findLast((sent) => sent.type === frameTypes[type])?.payload.readUInt32BE(type === 'goaway' ? 4 : 0);
}

test('requests that follow the excess of a limit in the same read do not begin', async () => {
  let reached = 0;
  const backend = await startBackend((_incoming, response) => {
    reached += 1;
    response.end();
  });
  const { port, proxy } = await startProxyTo(backend.port);
  const now = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(now);
  const raw = openFrames(port);
  const settings = frame('settings', 0, 0);
  // The preface contains the first of 100.
  raw.socket.write(repeated(99, () => settings));
  await eventually(() =>
    expect(raw.frames.filter(({ type, flags }) => type === frameTypes.settings && flags === 1)).toHaveLength(100),
  );
  raw.socket.write(
    Buffer.concat([settings, repeated(5, (index) => frame('headers', endStream | endHeaders, 2 * index + 1, get))]),
  );
  await eventually(() => expect(codeOf(raw, 'goaway')).toBe(enhanceYourCalm));
  raw.socket.destroy();
  await eventually(() => expect(proxy.counters()).toMatchObject({ openConnections: 0, openRequests: 0 }));
  expect(proxy.counters()).toMatchObject({ requests: 0, upstreamAttempts: 0 });
  expect(reached).toBe(0);
});

test('the rest of a body is discarded while the response waits for a window', async () => {
  const { port } = await startProxy([]);
  const raw = openFrames(port);
  // SETTINGS_INITIAL_WINDOW_SIZE 0.
  raw.socket.write(frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])));
  raw.socket.write(frame('headers', endHeaders, 1, post));
  await eventually(() => expect(raw.frames).toContainEqual(expect.objectContaining({ type: frameTypes.headers })));
  raw.socket.write(repeated(windowOfStream / 4_096, () => frame('data', 0, 1, Buffer.alloc(4_096))));
  await eventually(() =>
    expect(raw.frames).toContainEqual(expect.objectContaining({ type: frameTypes.windowUpdate, stream: 1 })),
  );
  raw.socket.destroy();
});

test.each([
  ['bytes', 4, Buffer.alloc(2_000)],
  ['pieces', 100, Buffer.alloc(1)],
])('%s before a WebSocket is open are limited', async (_name, count, piece) => {
  const backend = await startRawBackend(() => undefined);
  const { port, proxy } = await startProxyTo(backend.port);
  const raw = openFrames(port);
  raw.socket.write(frame('headers', endHeaders, 1, websocket));
  await eventually(() => expect(proxy.counters().upstreamAttempts).toBe(1));
  raw.socket.write(repeated(count, () => frame('data', 0, 1, piece)));
  await eventually(() => expect(codeOf(raw, 'reset')).toBe(enhanceYourCalm));
  await eventually(() => expect(proxy.counters().openRequests).toBe(0));
  raw.socket.destroy();
});

test('a WebSocket with Content-Length is malformed', async () => {
  const { port, proxy } = await startProxyTo((await startEcho()).port);
  const raw = openFrames(port);
  const fields = Buffer.concat([websocket, literal(['content-length', '5'])]);
  raw.socket.write(Buffer.concat([frame('headers', endHeaders, 1, fields), frame('data', 0, 1, Buffer.from('hello'))]));
  await eventually(() => expect(codeOf(raw, 'reset')).toBe(protocolError));
  expect(proxy.counters().upstreamAttempts).toBe(0);
  raw.socket.destroy();
});
