import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startEcho, startRawBackend } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import {
  closeHttp2,
  frame,
  literal,
  openHttp2,
  receiveFrames,
  request,
  settingsFrame,
  uint32,
} from '../support/http2.ts';
import type { RawHttp2 } from '../support/http2.ts';
import { backendOf, closeProxies, prefixRule, send, startProxy, throwFault, webRoute } from '../support/proxy.ts';
import { scaled } from './support/scale.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

// A backend that speaks HTTP/2 as no library does. Its requests end, another backend's requests are served, and nothing of it stays.

const [endStream, endHeaders] = [1, 4];
const frames = scaled(2_000, 50_000);
const interim = (stream: number): Buffer => frame('headers', endHeaders, stream, literal([':status', '103']));
const head = (stream: number): Buffer => frame('headers', endHeaders, stream, literal([':status', '200']));
/** GOAWAY: the last stream, and no error. */
const goaway = (last: number): Buffer => frame('goaway', 0, 0, Buffer.concat([uint32(last), uint32(0)]));
const repeated = (bytes: Buffer): Buffer => Buffer.concat(Array.from({ length: frames }, () => bytes));

/** Writes a piece again and again until the connection ends, at the speed of its reader. */
function endlessly(socket: Socket, piece: Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(piece));
  };
  socket.on('drain', write);
  write();
}

/** What the backend does when it has got a request on a stream. */
type Attack = (peer: RawHttp2, stream: number) => void;

const attacks: Readonly<Record<string, Attack>> = {
  'interim responses without end': ({ socket }, stream) => endlessly(socket, repeated(interim(stream))),
  'a header section without end': ({ socket }, stream) => {
    socket.write(frame('headers', 0, stream, literal([':status', '200'])));
    endlessly(socket, repeated(frame('continuation', 0, stream, literal(['x', 'a'.repeat(100)]))));
  },
  'a header section that is decompressed to much more': ({ socket }, stream) => {
    const large = Buffer.concat([
      Buffer.from([0x40, 1]),
      Buffer.from('x'),
      Buffer.from([0x7f, 0x80, 0x1e]),
      Buffer.alloc(3_967, 97),
    ]);
    socket.write(
      frame(
        'headers',
        endHeaders,
        stream,
        Buffer.concat([Buffer.from([0x88]), large, Buffer.alloc(16_000 - large.length, 0xbe)]),
      ),
    );
  },
  'data beyond the window': ({ socket }, stream) => {
    socket.write(head(stream));
    endlessly(socket, repeated(frame('data', 0, stream, Buffer.alloc(1_024))));
  },
  'empty DATA without end': ({ socket }, stream) => {
    socket.write(head(stream));
    endlessly(socket, repeated(frame('data', 0, stream)));
  },
  'DATA of padding without end': ({ socket }, stream) => {
    socket.write(head(stream));
    endlessly(socket, repeated(frame('data', 8, stream, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]))));
  },
  'PING without end, whose acknowledgements are not read': ({ socket }) => {
    socket.pause();
    endlessly(socket, repeated(frame('ping', 0, 0, Buffer.alloc(8))));
  },
  'SETTINGS without end': ({ socket }) => endlessly(socket, repeated(settingsFrame(4, 1))),
  'windows that grow beyond the limit': ({ socket }, stream) =>
    endlessly(socket, repeated(frame('windowUpdate', 0, stream, uint32(0x7fff_ffff)))),
  'frames of an unknown type without end': ({ socket }, stream) => {
    const unknown = frame('data', 0, stream, Buffer.alloc(8));
    unknown[3] = 0x20;
    endlessly(socket, repeated(unknown));
  },
  'acknowledgements without end': ({ socket }) =>
    endlessly(socket, repeated(Buffer.concat([frame('settings', 1, 0), frame('ping', 1, 0, Buffer.alloc(8))]))),
  'GOAWAY that lets the request go on, without end': ({ socket }, stream) =>
    endlessly(socket, repeated(goaway(stream))),
  'a body of small pieces without end, after its request is over': ({ socket }, stream) =>
    void socket.once('data', () => endlessly(socket, repeated(frame('data', 0, stream, Buffer.alloc(4))))),
  'interim responses without end, after their request is over': ({ socket }, stream) =>
    void socket.once('data', () => endlessly(socket, repeated(interim(stream)))),
  'a promised response': ({ socket }, stream) =>
    void socket.write(frame('push', endHeaders, stream, Buffer.concat([uint32(2), literal([':method', 'GET'])]))),
  'a response on a stream of its own': ({ socket }) => void socket.write(head(2)),
  'responses to requests that were not sent': ({ socket }, stream) => endlessly(socket, head(stream + 100)),
  'GOAWAY for every request': ({ socket }) => void socket.write(goaway(0)),
  'a reset as if the request was not processed': ({ socket }, stream) =>
    void socket.write(frame('reset', 0, stream, uint32(7))),
  'no concurrent requests from now on': ({ socket }, stream) =>
    void socket.write(
      Buffer.concat([
        settingsFrame(3, 0),
        frame('headers', endHeaders | endStream, stream, literal([':status', '200'])),
      ]),
    ),
  'a response that breaks off': ({ socket }, stream) =>
    void socket.end(Buffer.concat([head(stream), frame('data', 0, stream, Buffer.from('a'))])),
  'half of a frame': ({ socket }, stream) => void socket.end(head(stream).subarray(0, 7)),
  'bytes that are no frames': ({ socket }) => endlessly(socket, Buffer.alloc(64 * 1024, 0xff)),
};

/** Starts a backend that attacks with each request of each connection. */
function startHostile(attack: Attack) {
  return startRawBackend((socket) => {
    socket.on('error', () => undefined).write(frame('settings', 0, 0));
    const peer = receiveFrames(socket);
    let seen = 0;
    socket.on('data', () => {
      for (; seen < peer.frames.length; seen += 1) {
        const { type, stream } = peer.frames[seen] ?? { type: 0, stream: 0 };
        if (type === 1) attack(peer, stream);
      }
    });
  });
}

describe('a backend that attacks over HTTP/2', () => {
  test.each(Object.entries(attacks))('%s', async (name, attack) => {
    const [hostile, good] = [await startHostile(attack), await startEcho('good')];
    const started = await startProxy(
      [
        { ...endpointsConfig('hostile', hostile.port), protocol: 'h2c' },
        endpointsConfig('good', good.port),
        webRoute(
          prefixRule('/bad', [], { backends: [backendOf('hostile')], requestTimeout: 1_000 }),
          prefixRule('/', [], { backends: [backendOf('good')], index: 1 }),
        ),
      ],
      { onFault: throwFault },
    );
    const { port, proxy } = started;
    const session = openHttp2(port);
    const bad = [
      ...Array.from({ length: 4 }, () =>
        send(port, '/bad').then(
          ({ status }) => status,
          () => 'broken off',
        ),
      ),
      ...Array.from({ length: 4 }, () =>
        request(session, { ':path': '/bad' }).then(({ status, code }) => (code === 0 ? status : 'broken off')),
      ),
    ];
    for (let count = 0; count < 20; count += 1) expect((await send(port, '/')).status).toBe(200);
    const ends = await Promise.all(bad);
    // What the backend never completed does not look complete.
    const mayComplete = attack === attacks['no concurrent requests from now on'];
    if (!mayComplete) expect(ends.filter((end) => end === 200)).toEqual([]);
    expect((await send(port, '/')).status).toBe(200);
    await eventually(() => expect([proxy.counters().openRequests, proxy.counters().buffered.used]).toEqual([0, 0]));
    // Nobody pays for frames that serve no request.
    if (name.includes('without end')) await eventually(() => expect(hostile.openConnections()).toBe(0));
  });
});
