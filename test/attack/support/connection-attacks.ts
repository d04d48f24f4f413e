import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from './bystander.ts';

/** Listeners under attack: one without TLS, and one with it. */
export interface Attacked {
  readonly plain: Place;
  readonly secure: Place;
}

/** One connection of an attack. */
interface Line {
  readonly at: Attacked;
  /** Address of loopback that the connection comes from; ordinary clients have another one. */
  readonly from: string;
  readonly signal: AbortSignal;
}

/** An attack that many connections make together. Each is opened again where it ends. */
export interface ConnectionAttack {
  /** Connections at the same time at full size. */
  readonly connections: number;
  /** Whether each connection has an address of its own. */
  readonly fromMany?: boolean;
  /** What becomes of one connection until it ends, or the signal. */
  readonly line: (line: Line) => Promise<void>;
}

/** Milliseconds between two steps of a slow client. */
const pace = 500;
/**
 * Milliseconds between the beginnings of two connections. A process with half a core accepts about a thousand in a second; those that come at once wait for
 * each other in the kernel, in front of nobody but new clients.
 */
const spacing = 2;
/** Milliseconds before a connection is opened again, so that attackers do not only measure themselves. */
const pause = 50;
const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const upload = (path: string, bytes: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;
const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

/** A masked PING frame with one byte (RFC 6455 section 5.2), the smallest one that makes an echo answer. */
const smallFrame = Buffer.from([0x89, 0x81, 1, 2, 3, 4, 0x60]);
const smallFrames = Buffer.concat(Array.from({ length: 2_000 }, () => smallFrame));
const largePiece = randomBytes(mebibyte);
const manyRanges = `Range: bytes=0-${Array.from({ length: 3_000 }, (_, index) => `,5-${index}`).join('')}`;

/** A head of 10 KB with as many fields as the proxy accepts. */
const manyFields = `GET /${'a'.repeat(8_000)} HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 195 }, (_, index) => `x${index}: y\r\n`).join('')}\r\n`;

/** A ClientHello that a server takes for one, and what it would be without its end. */
const hello = Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), Buffer.alloc(501)]);

/** Milliseconds that an attack takes at full size: all of its connections stand for some seconds. */
export function durationOf({ connections }: ConnectionAttack): number {
  return 5_000 + connections * spacing;
}

/** Slow clients, floods and stalls by name. */
export const connectionAttacks: Readonly<Record<string, ConnectionAttack>> = {
  'slow heads (slowloris)': {
    connections: 1_000,
    line: (line) => slowly(openPlain(line), line, 'GET / HTTP/1.1\r\nHost: a\r\n', () => 'X-A: b\r\n'),
  },
  'slow bodies': { connections: 1_000, line: (line) => slowly(openPlain(line), line, upload('/', 100_000), () => 'x') },
  'slow reading': { connections: 500, line: (line) => readSlowly(openPlain(line).pause(), line, get('/large')) },
  'slow reading over TLS': {
    connections: 300,
    line: (line) => readSlowly(openSecure(line).pause(), line, get('/large')),
  },
  'many ranges': {
    connections: 20,
    line: (line) => again(openPlain(line), line, `GET / HTTP/1.1\r\nHost: a\r\n${manyRanges}\r\n\r\n`),
  },
  'connections that are opened and closed': { connections: 50, line: openAndClose },
  'connections that say nothing': { connections: 2_300, line: (line) => hold(openPlain(line), line) },
  'connections that say nothing, from many addresses': {
    connections: 8_500,
    fromMany: true,
    line: (line) => hold(openPlain(line), line),
  },
  'idle connections after a request, from many addresses': {
    connections: 8_500,
    fromMany: true,
    line: (line) => hold(openPlain(line), line, get('/')),
  },
  'a request of many fields and the first byte of the next one, from many addresses': {
    connections: 8_500,
    fromMany: true,
    line: (line) => hold(openPlain(line), line, `${manyFields}G`),
  },
  'half of a TLS handshake': {
    connections: 2_000,
    line: (line) =>
      hold(openPlain({ ...line, at: { ...line.at, plain: line.at.secure } }), line, hello.subarray(0, 60)),
  },
  'TLS handshakes that drip in': { connections: 1_000, line: dripHello },
  'TLS handshakes without a request': { connections: 20, line: shakeHands },
  renegotiation: { connections: 20, line: renegotiate },
  'uploads that the backend does not take': {
    connections: 8,
    line: (line) => stream(openPlain(line), line, upload('/deaf', gibibyte)),
  },
  'downloads that the client does not take': {
    connections: 8,
    line: (line) => hold(openPlain(line).pause(), line, get('/endless')),
  },
  'uploads and downloads of 1 GiB': {
    connections: 2,
    line: (line) =>
      Promise.all([
        stream(openPlain(line), line, upload('/', gibibyte)),
        hold(openPlain(line).resume(), line, get('/endless')),
      ]).then(() => undefined),
  },
  'WebSocket frames': {
    connections: 8,
    line: (line) => stream(openPlain(line).resume(), line, upgrade('/echo'), smallFrames),
  },
  'WebSocket frames that nobody takes': {
    connections: 8,
    line: (line) => stream(openPlain(line).pause(), line, upgrade('/echo'), smallFrames),
  },
};

/**
 * Makes an attack with this many connections until `duration` milliseconds are over. Returns how many were opened. As a program:
 * `node connection-attacks.ts <attack> <host> <plain port> <secure port>`.
 */
export async function attackConnections(
  { line, fromMany = false }: ConnectionAttack,
  at: Attacked,
  duration: number,
  connections: number,
): Promise<number> {
  // Neither a signal's own timer nor connections that nobody reads keep a process alive.
  const ending = new AbortController();
  const { signal } = ending;
  setTimeout(() => ending.abort(), duration);
  let opened = 0;
  const place = async (index: number): Promise<void> => {
    await sleep(index * spacing, signal);
    while (!signal.aborted) {
      opened += 1;
      await line({ at, from: fromMany ? `127.66.${1 + (index >> 8)}.${index & 0xff}` : '127.66.0.1', signal });
      await sleep(pause, signal);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => place(index)));
  return opened;
}

function openPlain({
  at: {
    plain: { host, port },
  },
  from,
}: Line): Socket {
  return connect({ host, port, localAddress: from }).on('error', () => undefined);
}

function openSecure({ at: { secure }, from }: Line, options: ConnectionOptions = {}): TLSSocket {
  const below = connect({ ...secure, localAddress: from }).on('error', () => undefined);
  return connectTls({ ...options, socket: below, rejectUnauthorized: false, servername: 'a.example' }).on(
    'error',
    () => undefined,
  );
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Resolves when a connection has ended; the signal ends it. */
function ended(socket: Socket, signal: AbortSignal, end = (): void => void socket.destroy()): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    socket.once('close', () => {
      signal.removeEventListener('abort', end);
      resolve();
    });
  });
}

function hold(socket: Socket, { signal }: Line, words: string | Buffer = ''): Promise<void> {
  if (words.length > 0) socket.write(words);
  return ended(socket, signal);
}

async function step(socket: Socket, { signal }: Line, act: () => void): Promise<void> {
  const timer = setInterval(act, pace);
  await ended(socket, signal);
  clearInterval(timer);
}

function slowly(socket: Socket, line: Line, words: string | Buffer, more: () => string): Promise<void> {
  socket.resume().write(words);
  return step(socket, line, () => void (socket.writable && socket.write(more())));
}

function readSlowly(socket: Socket, line: Line, words: string): Promise<void> {
  socket.write(words);
  return step(socket, line, () => void socket.read(16));
}

/** Sends one request after the other. */
function again(socket: Socket, { signal }: Line, words: string): Promise<void> {
  socket.on('data', () => void (socket.writable && socket.write(words))).write(words);
  return ended(socket, signal);
}

function openAndClose(line: Line): Promise<void> {
  const socket = openPlain(line);
  socket.once('connect', () => socket.destroy());
  return ended(socket, line.signal);
}

/** Sends as fast as the other side takes it. */
function stream(socket: Socket, { signal }: Line, words: string, piece = largePiece): Promise<void> {
  const push = (): void => {
    if (socket.writable && socket.write(piece)) setImmediate(push);
  };
  socket.on('drain', push).write(words);
  push();
  // An orderly end comes behind what nobody reads, and is not seen before that (docs/guides/traffic.md).
  return ended(socket, signal, () => void socket.resetAndDestroy());
}

function dripHello(line: Line): Promise<void> {
  const {
    at: { secure },
    signal,
  } = line;
  const socket = openPlain({ ...line, at: { plain: secure, secure } });
  let sent = 10;
  socket.write(hello.subarray(0, sent));
  return step(socket, { ...line, signal }, () => {
    if (!socket.writable) return;
    socket.write(hello.subarray(sent, sent + 1));
    sent += 1;
  });
}

function shakeHands(line: Line): Promise<void> {
  const socket = openSecure(line);
  socket.once('secureConnect', () => socket.destroy());
  return ended(socket, line.signal);
}

function renegotiate(line: Line): Promise<void> {
  const socket = openSecure(line, { maxVersion: 'TLSv1.2' });
  const next = (): void => {
    if (!socket.destroyed)
      socket.renegotiate({ rejectUnauthorized: false }, (error) => void (error === null ? next() : socket.destroy()));
  };
  socket.once('secureConnect', next).resume();
  return ended(socket, line.signal);
}

if (process.argv[1]?.endsWith('connection-attacks.ts') === true) {
  const [name = '', host = '', plain, secure] = process.argv.slice(2);
  const attack = connectionAttacks[name];
  if (attack === undefined) throw new Error(`no attack is called ${name}`);
  const at = { plain: { host, port: Number(plain) }, secure: { host, port: Number(secure) } };
  process.stdout.write(`${await attackConnections(attack, at, durationOf(attack), attack.connections)}\n`);
  process.exit();
}
