import { duplexPair } from 'node:stream';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

/** A ClientHello as Node and OpenSSL make it, with the headers of its records. */
export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const [near, far] = duplexPair();
  const socket = connect({ ...options, socket: near, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  far.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (bytes.length >= 5 && bytes.length === 5 + bytes.readUInt16BE(3)) resolve(bytes);
  });
  const bytes = await promise;
  socket.destroy();
  return bytes;
}

/** Extensions by their type. */
export type Extensions = readonly (readonly [number, Buffer])[];

/** The body of a ClientHello with these extensions, or with none at all. */
export function helloBody(
  extensions: Extensions | undefined,
  parts: { readonly session?: Buffer; readonly suites?: Buffer; readonly compressions?: Buffer } = {},
): Buffer {
  const {
    session = Buffer.alloc(32, 7),
    suites = Buffer.from([0x5a, 0x5a, 0x13, 1, 0x13, 2]),
    compressions = Buffer.from([0]),
  } = parts;
  const head = [
    Buffer.from([3, 3]),
    Buffer.alloc(32, 9),
    vector(1, session),
    vector(2, suites),
    vector(1, compressions),
  ];
  return Buffer.concat(
    extensions === undefined
      ? head
      : [...head, vector(2, ...extensions.map(([type, content]) => extension(type, content)))],
  );
}

/** A handshake message in records of at most `size` bytes. */
export function inRecords(body: Buffer, size = 16_384): Buffer {
  const message = Buffer.concat([Buffer.from([1]), sized(3, body.length), body]);
  const records: Buffer[] = [];
  for (let begin = 0; begin < message.length; begin += size) {
    const part = message.subarray(begin, begin + size);
    records.push(Buffer.from([22, 3, 1]), vector(2, part));
  }
  return Buffer.concat(records);
}

/** The extension server_name with one name. */
export function serverNameExtension(name: string): readonly [number, Buffer] {
  return [0, vector(2, Buffer.from([0]), vector(2, Buffer.from(name, 'latin1')))];
}

/** The extension for protocols (ALPN). */
export function protocolsExtension(...names: readonly string[]): readonly [number, Buffer] {
  return [16, vector(2, ...names.map((name) => vector(1, Buffer.from(name, 'latin1'))))];
}

/** Bytes behind their length, which takes `size` bytes. */
export function vector(size: 1 | 2 | 3, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([sized(size, content.length), content]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([sized(2, type), vector(2, content)]);
}

function sized(size: 1 | 2 | 3, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}
