import type { Socket } from 'node:net';
import { duplexPair, Readable } from 'node:stream';
import type { Duplex } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import type { ResponseReceiver, UpstreamRequest } from '../../../../src/proxy/messages/forwarder.ts';
import { Http2Call } from '../../../../src/proxy/upstream/http2-call.ts';
import { Http2Connection } from '../../../../src/proxy/upstream/http2-connection.ts';
import { BackendTurns } from '../../../../src/proxy/sockets/backend-turns.ts';
import { eventually } from '../../../support/eventually.ts';
import { frame, frameTypes, literal, receiveFrames, settingsFrame, uint32 } from '../../../support/http2.ts';
import type { ReceivedFrame } from '../../../support/http2.ts';
import { throwFault } from '../../../support/proxy.ts';
import { roomyAccount, upstreamRequest } from '../../../support/upstream-request.ts';

const endStream = 1;
const endHeaders = 4;
const head = (stream: number, flags = endHeaders, ...fields: readonly [string, string][]): Buffer =>
  frame('headers', flags, stream, literal([':status', '200'], ...fields));
const trailers = (stream: number): Buffer =>
  frame('headers', endHeaders | endStream, stream, literal(['grpc-status', '0']));

interface Played {
  /** The side of the backend, which the test plays. */
  readonly backend: Duplex;
  readonly connection: Http2Connection;
  /** What the connection told. */
  readonly told: string[];
  readonly sent: (type: keyof typeof frameTypes) => ReceivedFrame[];
  /** Begins a request, which is sent in a later turn. */
  readonly begin: (parts?: Partial<UpstreamRequest>) => Asked;
  /** Sends a request. */
  readonly ask: (parts?: Partial<UpstreamRequest>) => Promise<Asked>;
}

/** What the receiver of a request got, and the request. */
interface Asked {
  readonly got: string[];
  readonly call: Http2Call;
}

async function connected(settings = frame('settings', 0, 0)): Promise<Played> {
  const [near, backend] = duplexPair();
  const { frames } = receiveFrames(backend as Socket);
  const told: string[] = [];
  const connection = new Http2Connection(near as Socket, defaultLimits, new BackendTurns(), {
    done: () => void told.push('done'),
    ready: () => undefined,
    hasRoom: () => void told.push('room'),
    ended: (failure) => void told.push(`ended ${failure}`),
    exceeded: (limit) => void told.push(`exceeded ${limit}`),
    account: roomyAccount,
    fault: throwFault,
  });
  backend.write(settings);
  await eventually(() => expect(told).toEqual(['room']));
  const quotas = { buffered: { take: () => true, release: () => undefined, hasRoom: () => true } };
  const begin = (parts: Partial<UpstreamRequest> = {}): Asked => {
    const got: string[] = [];
    const receiver: ResponseReceiver = {
      onConnected: () => undefined,
      onInformation: (status) => void got.push(`interim ${status}`),
      onHead: ({ status }) => void got.push(`head ${status}`),
      onData: (chunk) => void got.push(`data ${chunk.toString()}`),
      onEnd: (fields) => void got.push(['end', ...fields].join(' ')),
      onSwitch: (_head, stream) => {
        got.push('switch');
        stream.on('data', (chunk: Buffer) => got.push(`data ${chunk.toString()}`)).on('error', () => undefined);
        stream.on('end', () => got.push('end')).on('close', () => got.push('close'));
      },
      onFailure: (failure) => void got.push(failure),
    };
    const request = upstreamRequest({ method: 'POST', ...parts });
    const call = new Http2Call(request, receiver, { fault: throwFault, quotas: quotas as never });
    connection.take(call);
    return { got, call };
  };
  const sent = (type: keyof typeof frameTypes): ReceivedFrame[] =>
    frames.filter((received) => received.type === frameTypes[type]);
  const ask = async (parts?: Partial<UpstreamRequest>): Promise<Asked> => {
    const before = sent('headers').length;
    const asked = begin(parts);
    await eventually(() => expect(sent('headers')).toHaveLength(before + 1));
    return asked;
  };
  return { backend, connection, told, sent, begin, ask };
}

const goawayCode = (frames: readonly ReceivedFrame[]): number | undefined => frames.at(-1)?.payload.readUInt32BE(4);
const textOf = (frames: readonly ReceivedFrame[]): string =>
  Buffer.concat(frames.map(({ payload }) => payload)).toString();
const resetCodes = (frames: readonly ReceivedFrame[]): number[][] =>
  frames.map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]);

describe('a response over HTTP/2', () => {
  test('has a head, data and trailers, in pieces of one byte too', async () => {
    const { backend, ask, told } = await connected();
    const one = await ask();
    const bytes = Buffer.concat([head(1), frame('data', 0, 1, Buffer.from('a')), trailers(1)]);
    for (const byte of bytes) backend.write(Buffer.from([byte]));
    await eventually(() => expect(one.got).toEqual(['head 200', 'data a', 'end grpc-status 0']));
    expect(told).toEqual(['room', 'done', 'room']);
  });

  test('is passed on in few pieces if many short ones arrive together', async () => {
    const { backend, ask } = await connected();
    const [one, two] = [await ask(), await ask()];
    const piece = (stream: number, text: string): Buffer => frame('data', 0, stream, Buffer.from(text));
    const long = 'x'.repeat(2_000);
    const texts = ['a', 'b', 'c', long, 'd', 'e'];
    backend.write(
      Buffer.concat([head(1), head(3), ...texts.flatMap((text) => [piece(1, text), piece(3, text)]), trailers(1)]),
    );
    const pieces = ['head 200', 'data a', 'data bc', `data ${long}`, 'data de'];
    await eventually(() => expect(one.got).toEqual([...pieces, 'end grpc-status 0']));
    expect(two.got).toEqual(pieces);
    backend.write(Buffer.concat([piece(3, 'f'), piece(3, 'g'), piece(3, 'h'), frame('reset', 0, 3, uint32(2))]));
    await eventually(() => expect(two.got).toEqual([...pieces, 'data f', 'data gh', 'reset']));
  });

  test('may be trailers only, and follow interim responses', async () => {
    const { backend, ask } = await connected();
    const one = await ask();
    backend.write(
      Buffer.concat([
        frame('headers', endHeaders, 1, literal([':status', '103'])),
        head(1, endHeaders | endStream, ['grpc-status', '0']),
      ]),
    );
    await eventually(() => expect(one.got).toEqual(['interim 103', 'head 200', 'end']));
  });

  test.each([
    ['DATA before a head', () => frame('data', endStream, 1, Buffer.from('a')), 1],
    ['a length that is too large', () => head(1, endHeaders | endStream, ['content-length', '1']), 1],
    ['two lengths', () => head(1, endHeaders, ['content-length', '1'], ['content-length', '1']), 1],
    ['status 101', () => frame('headers', endHeaders, 1, literal([':status', '101'])), 1],
    ['no status', () => frame('headers', endHeaders, 1, literal(['a', 'b'])), 1],
    ['a field of a request', () => head(1, endHeaders, [':path', '/']), 1],
    ['a field in upper case', () => head(1, endHeaders, ['Upper', '1']), 1],
    ['Transfer-Encoding', () => head(1, endHeaders, ['transfer-encoding', 'chunked']), 1],
    ['an interim response as the end', () => frame('headers', 5, 1, literal([':status', '103'])), 1],
    ['too many bytes for the window', () => frame('windowUpdate', 0, 1, uint32(0x7fff_ffff)), 3],
    ['a window update of 0', () => frame('windowUpdate', 0, 1, uint32(0)), 1],
  ])('is refused with %s, and the connection goes on', async (_name, bytes, code) => {
    const { backend, ask, sent } = await connected();
    const body = new Readable({ read: () => undefined });
    const one = await ask({ body });
    backend.write(bytes());
    await eventually(() => expect(one.got).toEqual(['protocol']));
    await eventually(() => expect(resetCodes(sent('reset'))).toEqual([[1, code]]));
    const two = await ask();
    backend.write(head(3, endHeaders | endStream));
    await eventually(() => expect(two.got).toEqual(['head 200', 'end']));
    expect(sent('goaway')).toEqual([]);
  });

  test.each([
    ['trailers that do not end it', () => frame('headers', endHeaders, 1, literal(['a', 'b']))],
    ['a pseudo-header field in its trailers', () => head(1, endHeaders | endStream)],
    ['more bytes than its length', () => frame('data', 0, 1, Buffer.from('abcd'))],
    ['fewer bytes than its length', () => frame('data', endStream, 1, Buffer.from('ab'))],
    ['trailers before its length', trailersOf],
  ])('with %s never looks complete', async (_name, bytes) => {
    const { backend, ask, sent } = await connected();
    const one = await ask();
    backend.write(Buffer.concat([head(1, endHeaders, ['content-length', '3']), bytes()]));
    await eventually(() => expect(one.got.at(-1)).toBe('protocol'));
    expect(one.got.some((event) => event.startsWith('end'))).toBe(false);
    await eventually(() => expect(resetCodes(sent('reset'))).toEqual([[1, 1]]));
  });

  test('has no body with HEAD, whatever its length', async () => {
    const { backend, ask } = await connected();
    const one = await ask({ method: 'HEAD' });
    const two = await ask({ method: 'HEAD' });
    backend.write(
      Buffer.concat([
        head(1, endHeaders, ['content-length', '3']),
        frame('data', endStream, 1),
        head(3, endHeaders, ['content-length', '3']),
        frame('data', endStream, 3, Buffer.from('abc')),
      ]),
    );
    await eventually(() => expect(one.got).toEqual(['head 200', 'end']));
    await eventually(() => expect(two.got).toEqual(['head 200', 'protocol']));
  });

  test('waits within its window while it is paused, and is complete afterwards, also on a lost connection', async () => {
    const { backend, ask, told, sent } = await connected();
    const one = await ask();
    backend.write(head(1));
    await eventually(() => expect(one.got).toEqual(['head 200']));
    one.call.pause();
    const piece = Buffer.alloc(16_384, 'a');
    for (let bytes = 0; bytes < defaultLimits.streamWindow; bytes += piece.length)
      backend.write(frame('data', 0, 1, piece));
    backend.write(trailers(1));
    await eventually(() => expect(told).toEqual(['room', 'done', 'room']));
    expect(sent('windowUpdate').filter(({ stream }) => stream === 1)).toEqual([]);
    backend.destroy();
    await eventually(() => expect(told.at(-1)).toBe('ended undefined'));
    expect(one.got).toEqual(['head 200']);
    one.call.resume();
    await eventually(() => expect(one.got.at(-1)).toBe('end grpc-status 0'));
    expect(one.got.filter((event) => event.startsWith('data'))).toHaveLength(defaultLimits.streamWindow / 16_384);
  });

  test('beyond its window is reset', async () => {
    const { backend, ask, sent } = await connected();
    const one = await ask();
    backend.write(head(1));
    await eventually(() => expect(one.got).toEqual(['head 200']));
    one.call.pause();
    for (let bytes = 0; bytes <= defaultLimits.streamWindow; bytes += 16_384)
      backend.write(frame('data', 0, 1, Buffer.alloc(16_384)));
    await eventually(() => expect(one.got).toEqual(['head 200', 'protocol']));
    await eventually(() => expect(resetCodes(sent('reset'))).toEqual([[1, 3]]));
  });
});

function trailersOf(): Buffer {
  return trailers(1);
}

describe('a request over HTTP/2', () => {
  test('respects the windows of the backend, and their changes', async () => {
    const { backend, ask, sent } = await connected(settingsFrame(4, 10));
    await ask({ content: Buffer.alloc(100) });
    const bytes = (): number => sent('data').reduce((sum, { payload }) => sum + payload.length, 0);
    await eventually(() => expect(bytes()).toBe(10));
    backend.write(settingsFrame(4, 5));
    backend.write(frame('windowUpdate', 0, 1, uint32(5)));
    await eventually(() => expect(sent('settings').filter(({ flags }) => flags === 1)).toHaveLength(2));
    expect(bytes()).toBe(10);
    backend.write(settingsFrame(4, 1_000));
    await eventually(() => expect(bytes()).toBe(100));
    expect(sent('data').at(-1)?.flags).toBe(endStream);
  });

  test('pauses its body while the backend takes nothing', async () => {
    const { ask, backend } = await connected(settingsFrame(4, 0));
    let made = 0;
    const body = new Readable({
      read() {
        made += 1;
        this.push(Buffer.alloc(16_384));
      },
    });
    await ask({ body });
    await eventually(() => expect(body.isPaused()).toBe(true));
    expect(made).toBeLessThan(16);
    backend.write(settingsFrame(4, 1_000_000));
    backend.write(frame('windowUpdate', 0, 0, uint32(1_000_000)));
    await eventually(() => expect(made).toBeGreaterThan(16));
    body.destroy();
  });

  test('that is aborted before it is sent leaves no trace, and the next one is valid', async () => {
    const { backend, begin, sent } = await connected();
    const one = begin();
    one.call.abort();
    const two = begin();
    await eventually(() => expect(sent('headers').map(({ stream }) => stream)).toEqual([3]));
    expect(sent('reset')).toEqual([]);
    backend.write(head(3, endHeaders | endStream));
    await eventually(() => expect(two.got).toEqual(['head 200', 'end']));
    expect(one.got).toEqual([]);
  });

  test('that is not over when the response is complete is cancelled', async () => {
    const { backend, ask, sent } = await connected();
    const body = new Readable({ read: () => undefined });
    const one = await ask({ body });
    backend.write(head(1, endHeaders | endStream));
    await eventually(() => expect(one.got).toEqual(['head 200', 'end']));
    await eventually(() => expect(resetCodes(sent('reset'))).toEqual([[1, 8]]));
    expect(body.destroyed).toBe(true);
  });

  test('switches to a WebSocket only if the backend permits it', async () => {
    const upgrade = {
      method: 'GET',
      upgrade: 'websocket',
      fields: ['host', 'a', 'sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
    };
    const refused = await connected();
    expect(refused.begin(upgrade).got).toEqual(['upgrade']);
    expect(refused.told).toEqual(['room', 'done']);
    const { backend, ask, sent } = await connected(settingsFrame(8, 1));
    const { got } = await ask(upgrade);
    await eventually(() => expect(sent('headers').map(({ flags }) => flags)).toEqual([endHeaders]));
    backend.write(Buffer.concat([head(1), frame('data', 0, 1, Buffer.from('hi')), frame('reset', 0, 1, uint32(8))]));
    await eventually(() => expect(got[0]).toBe('switch'));
    await eventually(() => expect(got.at(-1)).toBe('close'));
    expect(got).not.toContain('end');
  });
});

describe('a connection over HTTP/2', () => {
  test('follows the limit of concurrent requests', async () => {
    const { backend, connection, ask, told } = await connected(settingsFrame(3, 2));
    expect(connection.room).toBe(2);
    await ask();
    expect(connection.room).toBe(1);
    backend.write(settingsFrame(3, 0));
    await eventually(() => expect(connection.capacity).toBe(0));
    expect(connection.room).toBeLessThanOrEqual(0);
    const before = told.length;
    backend.write(settingsFrame(3, 5));
    await eventually(() => expect(told.length).toBeGreaterThan(before));
    expect(connection.room).toBe(4);
  });

  test('GOAWAY refuses what was not processed, and waits for the rest', async () => {
    const { backend, connection, ask, told, sent } = await connected();
    const one = await ask();
    const two = await ask();
    backend.write(frame('goaway', 0, 0, uint32(1, 0)));
    await eventually(() => expect(two.got).toEqual(['refused']));
    expect(connection.room).toBe(0);
    expect(sent('goaway')).toEqual([]);
    // Frames for a refused stream are ignored.
    backend.write(Buffer.concat([head(3), frame('data', endStream, 3, Buffer.from('a'))]));
    backend.write(Buffer.concat([head(1), frame('data', endStream, 1, Buffer.from('a'))]));
    await eventually(() => expect(one.got).toEqual(['head 200', 'data a', 'end']));
    await eventually(() => expect(goawayCode(sent('goaway'))).toBe(0));
    expect(told.filter((event) => event.startsWith('ended'))).toEqual(['ended undefined']);
    expect(two.got).toEqual(['refused']);
  });

  test('looks at all streams once for all changes of the initial window that arrive together', async () => {
    const { backend, connection, ask, sent } = await connected(settingsFrame(4, 2));
    await ask({ body: Readable.from([Buffer.from('abcd')]) });
    await ask({ body: Readable.from([Buffer.from('efgh')]) });
    const texts = (): string[] => [1, 3].map((id) => textOf(sent('data').filter(({ stream }) => stream === id)));
    await eventually(() => expect(texts()).toEqual(['ab', 'ef']));
    const looks = jest.spyOn(connection.streams, 'values');
    const changes = Array.from({ length: 90 }, (_, count) => settingsFrame(4, count % 2 === 0 ? 0x7fff_ffff : 0));
    backend.write(
      Buffer.concat([...changes, settingsFrame(4, 2), frame('windowUpdate', 0, 3, uint32(1)), settingsFrame(4, 3)]),
    );
    await eventually(() => expect(texts()).toEqual(['abc', 'efgh']));
    expect(looks).toHaveBeenCalledTimes(1);
  });

  test('follows a change of the initial window that comes after a window was reduced below zero', async () => {
    const { backend, ask, sent } = await connected(settingsFrame(4, 2));
    await ask({ body: Readable.from([Buffer.from('abcd')]) });
    await eventually(() => expect(textOf(sent('data'))).toBe('ab'));
    backend.write(Buffer.concat([settingsFrame(4, 0), frame('windowUpdate', 0, 1, uint32(3))]));
    await eventually(() => expect(textOf(sent('data'))).toBe('abc'));
    backend.write(Buffer.concat([settingsFrame(4, 0x7fff_fffe)]));
    await eventually(() => expect(textOf(sent('data'))).toBe('abcd'));
  });

  test('looks at all streams once for all GOAWAY frames that arrive together', async () => {
    const { backend, connection, ask } = await connected();
    const asked = [await ask(), await ask(), await ask()];
    const looks = jest.spyOn(connection.streams, 'values');
    backend.write(
      Buffer.concat(Array.from({ length: 500 }, (_, index) => frame('goaway', 0, 0, uint32(1_002 - 2 * index, 0)))),
    );
    await eventually(() => expect(asked[2]?.got).toEqual(['refused']));
    expect(looks).toHaveBeenCalledTimes(1);
    expect([...connection.streams.values()].map(({ id }) => id)).toEqual([1, 3]);
  });

  test.each([
    [7, 'refused'],
    [1, 'protocol'],
    [0, 'reset'],
    [8, 'reset'],
  ])('RST_STREAM with code %i fails a request as %s', async (code, failure) => {
    const { backend, ask, sent } = await connected();
    const one = await ask();
    backend.write(frame('reset', 0, 1, uint32(code)));
    await eventually(() => expect(one.got).toEqual([failure]));
    expect(sent('reset')).toEqual([]);
  });

  test('answers PING and SETTINGS, and ends on a flood of them', async () => {
    const { backend, ask, sent, told } = await connected();
    const one = await ask();
    backend.write(frame('ping', 0, 0, Buffer.from('12345678')));
    await eventually(() => expect(sent('ping').map(({ payload }) => payload.toString())).toEqual(['12345678']));
    for (let count = 0; count < 200; count += 1) backend.write(frame('settings', 0, 0));
    await eventually(() => expect(goawayCode(sent('goaway'))).toBe(11));
    expect(told).toContain('exceeded http2-settings');
    await eventually(() => expect(one.got).toEqual(['protocol']));
  });
});

describe('a violation by a backend ends its connection with the right code, and fails its requests', () => {
  test.each([
    ['PUSH_PROMISE', frame('push', endHeaders, 1, Buffer.alloc(8)), 1],
    ['HEADERS on an even stream', head(2), 1],
    ['HEADERS on an idle stream', head(99), 1],
    ['DATA on an idle stream', frame('data', 0, 99, Buffer.from('a')), 1],
    ['DATA on stream 0', frame('data', 0, 0, Buffer.from('a')), 1],
    ['CONTINUATION alone', frame('continuation', endHeaders, 1), 1],
    ['another frame in a header section', Buffer.concat([head(1, 0), frame('ping', 0, 0, Buffer.alloc(8))]), 1],
    ['endless CONTINUATION', Buffer.concat([head(1, 0), ...Array(20).fill(frame('continuation', 0, 1))]), 11],
    [
      'a header section that is too large',
      Buffer.concat([head(1, 0), ...Array(6).fill(frame('continuation', 0, 1, Buffer.alloc(16_384)))]),
      11,
    ],
    ['an invalid header section', frame('headers', endHeaders, 1, Buffer.alloc(6, 0xff)), 9],
    ['a frame that is too large', Buffer.from([255, 255, 255, 0, 0, 0, 0, 0, 1]), 6],
    ['SETTINGS of an invalid size', frame('settings', 0, 0, Buffer.alloc(5)), 6],
    ['SETTINGS_ENABLE_PUSH', settingsFrame(2, 1), 1],
    ['an initial window that is too large', settingsFrame(4, 0x8000_0000), 3],
    ['a connection window that is too large', frame('windowUpdate', 0, 0, uint32(0x7fff_ffff)), 3],
    ['GOAWAY on a stream', frame('goaway', 0, 1, Buffer.alloc(8)), 1],
    ['HTTP/1.1', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 6],
    ['too many empty DATA frames', Buffer.concat([head(1), ...Array(2_000).fill(frame('data', 0, 1))]), 11],
    ['too many PINGs', Buffer.concat(Array(2_000).fill(frame('ping', 0, 0, Buffer.alloc(8)))), 11],
  ])('%s', async (_name, bytes, code) => {
    const { backend, ask, sent, connection } = await connected();
    const one = await ask();
    backend.write(bytes);
    await eventually(() => expect(goawayCode(sent('goaway'))).toBe(code));
    await eventually(() => expect(one.got.at(-1)).toBe('protocol'));
    expect(connection.room).toBe(0);
  });

  test('frames on a stream that has ended', async () => {
    const { backend, ask, sent } = await connected();
    const one = await ask();
    backend.write(head(1, endHeaders | endStream));
    await eventually(() => expect(one.got).toEqual(['head 200', 'end']));
    backend.write(frame('data', 0, 1, Buffer.from('a')));
    await eventually(() => expect(goawayCode(sent('goaway'))).toBe(5));
  });

  test('but frames on a stream that this side has reset were in transit', async () => {
    const { backend, ask, sent } = await connected();
    const one = await ask();
    one.call.abort();
    backend.write(Buffer.concat([head(1), frame('data', 0, 1, Buffer.from('a')), trailers(1)]));
    const two = await ask();
    backend.write(head(3, endHeaders | endStream));
    await eventually(() => expect(two.got).toEqual(['head 200', 'end']));
    expect(one.got).toEqual([]);
    expect(sent('goaway')).toEqual([]);
  });

  test('a response to a request that was not sent', async () => {
    const { backend, begin, sent } = await connected();
    const one = begin();
    backend.write(head(1, endHeaders | endStream));
    await eventually(() => expect(goawayCode(sent('goaway'))).toBe(1));
    await eventually(() => expect(one.got).toEqual(['protocol']));
  });
});

// A backend that ends can have thousands of requests, and each of them gets a response or is tried again.
test.each([
  ['GOAWAY', (backend: Duplex) => void backend.write(frame('goaway', 0, 0, uint32(0, 0))), 'refused'],
  ['the end of the connection', (backend: Duplex) => void backend.end(), 'reset'],
])('%s fails the requests of a connection a few in each turn', async (_, end, failure) => {
  const { backend, told, begin } = await connected(settingsFrame(3, 200));
  let failed = 0;
  const inTurns: number[] = [];
  const asked = Array.from({ length: 150 }, () => begin());
  const count = (): void => {
    const before = failed;
    failed = asked.filter(({ got }) => got[0] === failure).length;
    if (failed > before) inTurns.push(failed - before);
    if (failed < asked.length) setImmediate(count);
  };
  setImmediate(count);
  end(backend);
  await eventually(() => expect(failed).toBe(150));
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(64);
  expect(told.filter((event) => event === 'done')).toHaveLength(150);
});
