import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { frame, literal, preface, settingsFrame } from '../../support/http2.ts';
import type { Place } from './bystander.ts';

/** Not the address of anybody else on loopback, where there are several. */
const attackerAddress = '127.0.0.67';
const endStream = 1;
const endHeaders = 4;
/** Streams of a connection; a data plane allows 128. */
const streams = 100;
const numbers = Array.from({ length: streams }, (_, index) => 2 * index + 1);
/** An attack that makes a data plane keep bytes: what each connection sends, after which it holds still. */
export interface BufferAttack {
  /** Connections at full size, and in the small part. */
  readonly connections: number;
  readonly few: number;
  /** Milliseconds between the beginnings of two connections. */
  readonly spacing: number;
  /** Opens a connection, sends everything, and returns what ends it. */
  readonly open: (at: Place, size: number) => () => void;
  /** What each connection sends at full size and in the small part, in the attack's own measure. */
  readonly size: number;
  readonly small: number;
}

const head = (method: string, path: string): Buffer =>
  literal([':method', method], [':scheme', 'http'], [':path', path], [':authority', 'a'], ['te', 'trailers']);
const headers = (flags: number, method: string, path: string): Buffer =>
  Buffer.concat(numbers.map((stream) => frame('headers', flags | endHeaders, stream, head(method, path))));
/** Requests with so many fields of 200 bytes. */
const largeHeaders = (fields: number): Buffer => {
  const large = Array.from({ length: fields }, () => ['x-large', 'a'.repeat(200)] as [string, string]);
  const block = Buffer.concat([head('GET', '/deaf'), literal(...large)]);
  const half = Math.ceil(block.length / 2);
  return Buffer.concat(
    numbers.flatMap((stream) => [
      frame('headers', endStream, stream, block.subarray(0, half)),
      frame('continuation', endHeaders, stream, block.subarray(half)),
    ]),
  );
};
const initialWindow = 4;

/** Attacks by name, for the backend in `deaf-backend.ts`. */
export const bufferAttacks: Readonly<Record<string, BufferAttack>> = {
  'HTTP/2 uploads that the backend does not take': {
    connections: 40,
    few: 2,
    spacing: 100,
    size: 256 * 1024,
    small: 64 * 1024,
    open: ({ host, port }, size) => {
      const session = connectHttp2(`http://${host}:${port}`, {
        createConnection: () => connect({ host, port, localAddress: attackerAddress }),
      }).on('error', () => undefined);
      const body = Buffer.alloc(size);
      for (let count = 0; count < streams; count += 1)
        session
          .request({ ':method': 'POST', ':path': '/deaf', ':authority': 'a' }, { endStream: false })
          .on('error', () => undefined)
          .write(body);
      return () => session.destroy();
    },
  },
  'HTTP/2 uploads in DATA frames of one byte': {
    connections: 8,
    few: 1,
    spacing: 5,
    size: 4_000,
    small: 20,
    open: (at, rounds) => {
      const round = Buffer.concat(numbers.map((stream) => frame('data', 0, stream, Buffer.alloc(1))));
      return send(
        at,
        Buffer.concat([preface, headers(0, 'POST', '/deaf')]),
        Array.from({ length: rounds }, () => round),
      );
    },
  },
  'HTTP/1.1 uploads in chunks of one byte': {
    connections: 2_000,
    few: 8,
    spacing: 2,
    size: 10_000,
    // More than a data plane reads of one connection whose backend takes nothing.
    small: 100_000,
    open: (at, chunks) =>
      send(
        at,
        Buffer.from(
          `POST /deaf HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}`,
        ),
        [],
      ),
  },
  'HTTP/2 responses to a client with a window of 0': {
    connections: 100,
    few: 2,
    spacing: 5,
    size: 1,
    small: 1,
    open: (at) =>
      send(at, Buffer.concat([preface, settingsFrame(initialWindow, 0), headers(endStream, 'GET', '/piece')]), []),
  },
  'HTTP/2 requests with large heads that the backend does not answer': {
    connections: 140,
    few: 2,
    spacing: 50,
    // Node's server resets streams with more than 128.
    size: 100,
    small: 100,
    open: (at, fields) => send(at, Buffer.concat([preface, largeHeaders(fields)]), []),
  },
  'HTTP/2 trailers for a client with a window of 0': {
    connections: 140,
    few: 2,
    spacing: 50,
    size: 1,
    small: 1,
    open: (at) =>
      send(at, Buffer.concat([preface, settingsFrame(initialWindow, 0), headers(endStream, 'GET', '/trailers')]), []),
  },
};

function send({ host, port }: Place, first: Buffer, more: readonly Buffer[]): () => void {
  const socket: Socket = connect({ host, port, localAddress: attackerAddress });
  socket
    .on('error', () => undefined)
    .resume()
    .write(first);
  for (const bytes of more) socket.write(bytes);
  return () => socket.destroy();
}

/** Makes an attack with so many connections until `duration` milliseconds are over. */
export async function attackBuffers(
  { open, spacing }: BufferAttack,
  at: Place,
  { connections, size, duration }: { readonly connections: number; readonly size: number; readonly duration: number },
): Promise<void> {
  const end = performance.now() + duration;
  const ends: (() => void)[] = [];
  for (let count = 0; count < connections; count += 1) {
    ends.push(open(at, size));
    await delay(spacing);
  }
  await delay(Math.max(0, end - performance.now()));
  for (const close of ends) close();
}

if (process.argv[1]?.endsWith('buffer-attacks.ts') === true) {
  const [name = '', host = '', port, duration] = process.argv.slice(2);
  const attack = bufferAttacks[name];
  if (attack === undefined) throw new Error(`no attack is called ${name}`);
  await attackBuffers(
    attack,
    { host, port: Number(port) },
    { connections: attack.connections, size: attack.size, duration: Number(duration) },
  );
  process.exit();
}
