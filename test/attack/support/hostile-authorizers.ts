import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { delimitedField, numberField } from '../../../src/proxy/handling/authorization/protobuf.ts';
import { frame, literal, receiveFrames, settingsFrame, uint32 } from '../../support/http2.ts';

/** What an authorization server does with each request. */
export type Http1Answer = (socket: Duplex) => void;
/** The same in HTTP/2, with the stream of the request. */
export type Http2Answer = (socket: Duplex, stream: number) => void;

const piece = 64 * 1024;
const [endStream, endHeaders] = [1, 4];

/** Writes a piece again and again until the connection ends, at the speed of its reader. */
function endlessly(socket: Duplex, bytes: Buffer | string): void {
  const repeated = Buffer.from(bytes as string, 'latin1');
  const many = Buffer.concat(Array.from({ length: Math.ceil(piece / repeated.length) }, () => repeated));
  const write = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(many));
  };
  socket.on('drain', write);
  write();
}

/** Writes one byte every 2 ms. */
function drip(socket: Duplex, bytes: Buffer): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || !socket.writable || at >= bytes.length) clearInterval(timer);
    else socket.write(bytes.subarray(at, (at += 1)));
  }, 2);
}

const text = (socket: Duplex, words: string): void => void socket.write(Buffer.from(words, 'latin1'));
const resetOf = (socket: Duplex): void => void (socket as Socket).destroy();

/** HTTP/1.1 answers that permit nothing. */
export const http1Denials: Readonly<Record<string, Http1Answer>> = {
  silence: () => undefined,
  'an end at once': (socket) => void socket.end(),
  'a reset at once': resetOf,
  'half of a status line': (socket) => text(socket, 'HTTP/1.1 20'),
  'a head in single bytes': (socket) => drip(socket, Buffer.from(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}`)),
  'a header section without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\n');
    endlessly(socket, 'X-A: b\r\n');
  },
  'a header without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\nX-A: ');
    endlessly(socket, 'a');
  },
  '103 without end': (socket) => endlessly(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  '102 in single bytes': (socket) => drip(socket, Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000))),
  '101': (socket) => text(socket, 'HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  'a body without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\n\r\n');
    endlessly(socket, 'a');
  },
  'a body in chunks of one byte without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    endlessly(socket, '1\r\na\r\n');
  },
  'a chunk extension without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=');
    endlessly(socket, 'a');
  },
  'trailers without end': (socket) => {
    text(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n');
    endlessly(socket, 'X-A: b\r\n');
  },
  'a body that is cut': (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\na'),
  'a body that never comes': (socket) => text(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\na'),
  'another coding': (socket) => text(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
  'two lengths': (socket) => text(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\naa'),
  'status 000': (socket) => text(socket, 'HTTP/1.1 000 A\r\nContent-Length: 0\r\n\r\n'),
  'status 999': (socket) => text(socket, 'HTTP/1.1 999 A\r\nContent-Length: 0\r\n\r\n'),
  'status 2000': (socket) => text(socket, 'HTTP/1.1 2000 A\r\nContent-Length: 0\r\n\r\n'),
  'status 204 with content': (socket) => text(socket, 'HTTP/1.1 204 A\r\nContent-Length: 1\r\n\r\na'),
  'status 503 again and again': (socket) => text(socket, 'HTTP/1.1 503 A\r\nContent-Length: 0\r\n\r\n'),
  'a denial with fields that frame messages': (socket) =>
    text(
      socket,
      'HTTP/1.1 403 A\r\nContent-Length: 1\r\nConnection: close, x\r\nX: a\r\nTrailer: X\r\nUpgrade: h2c\r\nHTTP2-Settings: a\r\nTE: gzip\r\n\r\na',
    ),
  'a denial of many fields': (socket) =>
    text(socket, `HTTP/1.1 401 A\r\nContent-Length: 0\r\n${'A:\r\n'.repeat(4_000)}\r\n`),
  'too many fields': (socket) => text(socket, `HTTP/1.1 200 A\r\nContent-Length: 0\r\n${'A:\r\n'.repeat(1_000)}\r\n`),
  'a name with a space': (socket) => text(socket, 'HTTP/1.1 200 A\r\nContent-Length: 0\r\nX A: b\r\n\r\n'),
  'a value with a NUL': (socket) => text(socket, 'HTTP/1.1 200 A\r\nContent-Length: 0\r\nX-A: \0\r\n\r\n'),
  'a bare CR': (socket) => text(socket, 'HTTP/1.1 200 A\r\nContent-Length: 0\r\nX-A: a\rb: c\r\n\r\n'),
  'bytes that are no HTTP': (socket) => endlessly(socket, '\xff\x00\x16\x03'),
  'HTTP/2': (socket) => endlessly(socket, frame('settings', 0, 0).toString('latin1')),
};

/** HTTP/1.1 answers that permit the request, with content that is not welcome. */
export const http1Permissions: Readonly<Record<string, Http1Answer>> = {
  'many fields for the backend': (socket) =>
    text(
      socket,
      `HTTP/1.1 200 A\r\nContent-Length: 0\r\n${Array.from({ length: 150 }, (_, index) => `X-${index}: y\r\n`).join('')}\r\n`,
    ),
  'a large field for the backend': (socket) =>
    text(socket, `HTTP/1.1 200 A\r\nContent-Length: 0\r\nX-A: ${'a'.repeat(14_000)}\r\n\r\n`),
  'fields that frame messages': (socket) =>
    text(
      socket,
      'HTTP/1.1 200 A\r\nContent-Length: 2\r\nHost: b\r\nTE: gzip\r\nExpect: 100-continue\r\nUpgrade: h2c\r\nTrailer: X\r\nHTTP2-Settings: a\r\nConnection: authorization\r\n\r\nab',
    ),
  'answers that nobody asked for behind it': (socket) =>
    text(socket, 'HTTP/1.1 200 A\r\nContent-Length: 0\r\n\r\n'.repeat(100)),
};

const head = (stream: number, flags: number, ...fields: readonly (readonly [string, string])[]): Buffer =>
  frame('headers', flags, stream, literal([':status', '200'], ['content-type', 'application/grpc'], ...fields));
const trailers = (stream: number, status = '0'): Buffer =>
  frame('headers', endStream | endHeaders, stream, literal(['grpc-status', status]));
const goaway = (last: number, code = 0): Buffer => frame('goaway', 0, 0, uint32(last, code));

/** The message of a call in DATA frames, then trailers. */
function reply(socket: Duplex, stream: number, message: Buffer): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const whole = Buffer.concat([prefix, message]);
  socket.write(head(stream, endHeaders));
  for (let at = 0; at < whole.length; at += 16_384)
    socket.write(frame('data', 0, stream, whole.subarray(at, at + 16_384)));
  socket.write(trailers(stream));
}

const headerOption = (name: string, value: string): Buffer =>
  delimitedField(1, Buffer.concat([delimitedField(1, name), delimitedField(2, value)]));
const okStatus = delimitedField(1, '');
/** A CheckResponse that permits the request, with these parts of its OkHttpResponse. */
const permission = (...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([okStatus, delimitedField(3, Buffer.concat(parts))]);
/** A CheckResponse that denies it, with these parts of its DeniedHttpResponse. */
const denial = (...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([delimitedField(1, numberField(1, 7)), delimitedField(2, Buffer.concat(parts))]);
const statusOf = (status: number): Buffer => delimitedField(1, numberField(1, status));

/** HTTP/2 answers that permit nothing. */
export const http2Denials: Readonly<Record<string, Http2Answer>> = {
  silence: () => undefined,
  'GOAWAY at once': (socket) => void socket.write(goaway(0)),
  'GOAWAY in the middle': (socket, stream) =>
    void socket.write(Buffer.concat([head(stream, endHeaders), goaway(0, 2), trailers(stream)])),
  'GOAWAY without end': (socket) => endlessly(socket, goaway(0).toString('latin1')),
  'a reset at once': (socket, stream) => void socket.write(frame('reset', 0, stream, uint32(7))),
  'a reset after the head': (socket, stream) =>
    void socket.write(Buffer.concat([head(stream, endHeaders), frame('reset', 0, stream, uint32(0))])),
  'an end of the connection after the head': (socket, stream) => void socket.end(head(stream, endHeaders)),
  'a head in single bytes': (socket, stream) => drip(socket, head(stream, 0, ['x', 'a'.repeat(200)])),
  'a header section without end': (socket, stream) => {
    socket.write(head(stream, 0));
    endlessly(socket, frame('continuation', 0, stream, literal(['x', 'a'.repeat(100)])).toString('latin1'));
  },
  '103 without end': (socket, stream) =>
    endlessly(socket, frame('headers', endHeaders, stream, literal([':status', '103'])).toString('latin1')),
  'a body without end': (socket, stream) => {
    socket.write(head(stream, endHeaders));
    endlessly(socket, frame('data', 0, stream, Buffer.alloc(1_024)).toString('latin1'));
  },
  'empty DATA without end': (socket, stream) => {
    socket.write(head(stream, endHeaders));
    endlessly(socket, frame('data', 0, stream).toString('latin1'));
  },
  'windows of one byte': (socket, stream) => {
    socket.write(settingsFrame(4, 1));
    endlessly(socket, frame('windowUpdate', 0, stream, uint32(1)).toString('latin1'));
  },
  'windows that shrink below zero': (socket) => void socket.write(settingsFrame(4, 0)),
  'frames of other lengths': (socket) => void socket.write(settingsFrame(5, 1)),
  'no streams from now on': (socket) => void socket.write(settingsFrame(3, 0)),
  'PING without end': (socket) => endlessly(socket, frame('ping', 0, 0, Buffer.alloc(8)).toString('latin1')),
  'SETTINGS without end': (socket) => endlessly(socket, settingsFrame(4, 1).toString('latin1')),
  'a message without trailers': (socket, stream) =>
    void socket.write(
      Buffer.concat([head(stream, endHeaders), frame('data', endStream, stream, Buffer.from('00000000020a00', 'hex'))]),
    ),
  'a message that is longer than it says': (socket, stream) =>
    void socket.write(
      Buffer.concat([
        head(stream, endHeaders),
        frame('data', 0, stream, Buffer.from('00000000010a00', 'hex')),
        trailers(stream),
      ]),
    ),
  'a compressed message': (socket, stream) =>
    void socket.write(
      Buffer.concat([
        head(stream, endHeaders),
        frame('data', 0, stream, Buffer.from('01000000020a00', 'hex')),
        trailers(stream),
      ]),
    ),
  'no status': (socket, stream) => reply(socket, stream, Buffer.alloc(0)),
  'a status of another type': (socket, stream) => reply(socket, stream, numberField(1, 0)),
  'two statuses': (socket, stream) => reply(socket, stream, Buffer.concat([okStatus, okStatus])),
  'a permission with a denial': (socket, stream) =>
    reply(socket, stream, Buffer.concat([okStatus, delimitedField(2, '')])),
  'a group without end': (socket, stream) => reply(socket, stream, Buffer.alloc(1_000, 0x0b)),
  'a name with a line break': (socket, stream) =>
    reply(socket, stream, permission(delimitedField(2, headerOption('a\r\nb', '')))),
  'a pseudo-header field': (socket, stream) =>
    reply(socket, stream, permission(delimitedField(2, headerOption(':path', '/other')))),
  'a value with a line break': (socket, stream) =>
    reply(socket, stream, permission(delimitedField(6, headerOption('a', '\r\nb: c')))),
  ...Object.fromEntries(
    [1, 100, 101, 103, 199, 204, 304, 600, 2 ** 31, 2 ** 52].map((status): [string, Http2Answer] => [
      `a denial with the status ${status}`,
      (socket, stream) => reply(socket, stream, denial(statusOf(status), delimitedField(3, 'body'))),
    ]),
  ),
  'a denial of many fields': (socket, stream) =>
    reply(
      socket,
      stream,
      denial(...Array.from({ length: 5_000 }, (_, index) => delimitedField(2, headerOption(index.toString(36), '')))),
    ),
  'too many fields for the client': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(
        ...Array.from({ length: 5_000 }, (_, index) => delimitedField(6, headerOption(index.toString(36), ''))),
      ),
    ),
  'too many fields to remove': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(...Array.from({ length: 12_000 }, (_, index) => delimitedField(5, index.toString(36)))),
    ),
  'a denial of 60 KiB': (socket, stream) => reply(socket, stream, denial(delimitedField(3, Buffer.alloc(60 * 1024)))),
};

/** HTTP/2 answers that permit the request, with content that is not welcome. */
export const http2Permissions: Readonly<Record<string, Http2Answer>> = {
  'many fields for the backend': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(...Array.from({ length: 500 }, (_, index) => delimitedField(2, headerOption(index.toString(36), '')))),
    ),
  'many fields for the client': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(
        ...Array.from({ length: 1_000 }, (_, index) => delimitedField(6, headerOption(index.toString(36), ''))),
      ),
    ),
  'many fields to remove': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(...Array.from({ length: 1_500 }, (_, index) => delimitedField(5, index.toString(36)))),
    ),
  'a large field for both': (socket, stream) =>
    reply(
      socket,
      stream,
      permission(...[2, 6].map((field) => delimitedField(field, headerOption('x-a', 'a'.repeat(14_000))))),
    ),
};

/** How servers treat connections before any request, over TLS. */
export const handshakes: Readonly<Record<string, (socket: Socket) => void>> = {
  'a handshake that never answers': () => undefined,
  'a handshake in single bytes': (socket) =>
    drip(socket, Buffer.concat([Buffer.from([0x16, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc]), Buffer.alloc(16_000)])),
  'a handshake of garbage': (socket) => endlessly(socket, '\x00\xff'),
  'alerts without end': (socket) => endlessly(socket, '\x15\x03\x03\x00\x02\x01\x5a'),
  'an HTTP answer in place of a handshake': (socket) => text(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  'an end in place of a handshake': (socket) => void socket.end(),
};

/** Certificate and key (PEM) of a server. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A server under a name that is also the host of its route. */
export interface Authorizer {
  readonly name: string;
  readonly port: number;
  readonly protocol: 'HTTP' | 'GRPC';
  readonly secure: boolean;
  readonly permits: boolean;
}

type Start = Omit<Authorizer, 'name' | 'port'> & { readonly what: string; readonly serve: (socket: Duplex) => void };

/** Starts all of them; `pair` is what those over TLS identify with, `stranger` what one with a wrong certificate has. */
export async function startAuthorizers(pair: Pair, stranger: Pair): Promise<readonly Authorizer[]> {
  const all: Start[] = [];
  for (const secure of [false, true]) {
    const add = (
      protocol: 'HTTP' | 'GRPC',
      permits: boolean,
      served: readonly (readonly [string, (socket: Duplex) => void])[],
    ) => void all.push(...served.map(([what, serve]): Start => ({ what, protocol, secure, permits, serve })));
    add(
      'HTTP',
      false,
      Object.entries(http1Denials).map(([what, answer]) => [what, http1(answer)]),
    );
    add(
      'HTTP',
      true,
      Object.entries(http1Permissions).map(([what, answer]) => [what, http1(answer)]),
    );
    add(
      'GRPC',
      false,
      Object.entries(http2Denials).map(([what, answer]) => [what, http2(answer)]),
    );
    add(
      'GRPC',
      true,
      Object.entries(http2Permissions).map(([what, answer]) => [what, http2(answer)]),
    );
  }
  const started = all.map(async ({ serve, what, ...rest }, index): Promise<Authorizer> => {
    const server = rest.secure
      ? createTlsServer({ ...pair, ALPNProtocols: [rest.protocol === 'HTTP' ? 'http/1.1' : 'h2'] }, serve)
      : createServer(serve);
    return { ...rest, name: `${what} ${index}`, port: await listen(server) };
  });
  const raw = Object.entries(handshakes).map(async ([name, serve]): Promise<Authorizer> => {
    const server = createServer((socket) => serve(socket.on('error', () => undefined).resume()));
    return { name, port: await listen(server), protocol: 'HTTP', secure: true, permits: false };
  });
  const wrong = createTlsServer(stranger, http1(http1Permissions['a large field for the backend'] as Http1Answer));
  return Promise.all([
    ...started,
    ...raw,
    listen(wrong).then((port): Authorizer => ({
      name: 'a certificate of somebody else',
      port,
      protocol: 'HTTP',
      secure: true,
      permits: false,
    })),
  ]);
}

function http1(answer: Http1Answer): (socket: Duplex) => void {
  return (socket) => {
    socket.on('error', () => undefined);
    let held = '';
    socket.on('data', (bytes: Buffer) => {
      held += bytes.toString('latin1');
      if (!held.includes('\r\n\r\n')) return;
      held = '';
      answer(socket);
    });
  };
}

function http2(answer: Http2Answer): (socket: Duplex) => void {
  return (socket) => {
    socket.on('error', () => undefined).write(frame('settings', 0, 0));
    const peer = receiveFrames(socket as Socket);
    let seen = 0;
    socket.on('data', () => {
      for (; seen < peer.frames.length; seen += 1) {
        const { type, stream } = peer.frames[seen] ?? { type: 0, stream: 0 };
        if (type === 1) answer(socket, stream);
      }
    });
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => void server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve));
  return (server.address() as AddressInfo).port;
}

if (process.argv[1]?.endsWith('hostile-authorizers.ts') === true) {
  const [cert = '', key = '', otherCert = '', otherKey = ''] = process.argv.slice(2);
  process.stdout.write(
    `${JSON.stringify(await startAuthorizers({ cert, key }, { cert: otherCert, key: otherKey }))}\n`,
  );
}
