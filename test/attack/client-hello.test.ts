import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { duplexPair } from 'node:stream';
import { createServer } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { defaultLimits } from '../../src/proxy/limits/limits.ts';
import { parseClientHello, type ClientHello } from '../../src/proxy/layer4/client-hello.ts';
import { HelloReader, longestHello, type HelloFailure } from '../../src/proxy/layer4/hello-reader.ts';
import { createAuthority } from '../../src/certificates/index.ts';
import type { CertificatePair } from '../../src/proxy/listen/identities.ts';
import { issueLeaf } from '../support/certificates.ts';
import {
  helloBody,
  helloOf,
  inRecords,
  protocolsExtension,
  serverNameExtension,
  type Extensions,
} from '../support/client-hello.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';

const handshakeHeader = 4;
const recordHeader = 5;
const limit = defaultLimits.helloBytes;
const name = 'shop.example.com';
const grease: Extensions = [
  [0x0a0a, Buffer.alloc(0)],
  [0xfafa, Buffer.from([0])],
];

/** A ClientHello whose body has exactly this length. */
function paddedHello(length: number): Buffer {
  const extensions: Extensions = [...grease, serverNameExtension(name), protocolsExtension('h2')];
  const rest = length - helloBody([...extensions, [21, Buffer.alloc(0)]]).length;
  return helloBody([...extensions, [21, Buffer.alloc(rest)]]);
}

/** Valid ClientHellos without the headers of their records: body of the message. */
async function validHellos(): Promise<ReadonlyMap<string, Buffer>> {
  const bodyOf = async (options: Parameters<typeof helloOf>[0]): Promise<Buffer> =>
    (await helloOf({ servername: name, ...options })).subarray(recordHeader + handshakeHeader);
  return new Map([
    ['TLS 1.2', await bodyOf({ maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] })],
    ['TLS 1.3', await bodyOf({ minVersion: 'TLSv1.3' })],
    ['post-quantum', await bodyOf({ minVersion: 'TLSv1.3', ecdhCurve: '*X25519MLKEM768:*SecP256r1MLKEM768:X25519' })],
    ['GREASE', helloBody([...grease, serverNameExtension(name), protocolsExtension('h2')])],
    ['the longest one', paddedHello(longestHello)],
  ]);
}

function readAll(chunks: Iterable<Buffer>): ClientHello | HelloFailure | undefined {
  const reader = new HelloReader(limit);
  let excess = 0;
  let result: ReturnType<HelloReader['take']>;
  for (const chunk of chunks) {
    result = reader.take(chunk);
    excess = Math.max(excess, reader.bytes.length - limit - chunk.length);
    if (result !== undefined) break;
  }
  expect(excess).toBe(0);
  return result;
}

function* pieces(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += size) yield bytes.subarray(begin, begin + size);
}

let pair: CertificatePair;
beforeAll(async () => {
  pair = await issueLeaf(await createAuthority(), { dnsNames: [name] });
});

/** What OpenSSL's server does with the first bytes of a connection: the name that its callback gets, and whether it goes on. */
interface Oracle {
  readonly name: string | undefined;
  readonly goesOn: boolean;
}

async function askOpenssl(bytes: Buffer): Promise<Oracle> {
  let asked: string | undefined;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer({
    ...pair,
    SNICallback: (servername, callback) => {
      asked = servername;
      callback(null);
    },
  });
  server.on('tlsClientError', () => resolve(false));
  const [near, far] = duplexPair();
  // The first byte of the response is the type of a record: 22 is a handshake message, 21 an alert.
  far.once('data', (chunk: Buffer) => resolve(chunk[0] === 22));
  far.once('end', () => resolve(false));
  server.emit('connection', near);
  far.write(bytes);
  far.end();
  const goesOn = await promise;
  near.destroy();
  far.destroy();
  return { name: asked, goesOn };
}

/** Returns whether both accept the ClientHello. Then the names must be the same. */
function areAgreed(read: ClientHello | HelloFailure | undefined, oracle: Oracle): boolean {
  if (read === undefined || typeof read === 'string') return false;
  if (oracle.name === undefined && !oracle.goesOn) return false;
  expect(read.serverName).toBe(oracle.name?.toLowerCase() ?? '');
  return true;
}

describe('valid ClientHellos', () => {
  test('have the name that OpenSSL reads, in two pieces split at every byte', async () => {
    for (const [what, body] of await validHellos()) {
      const bytes = inRecords(body);
      const expected = parseClientHello(body);
      expect([what, expected?.serverName]).toEqual([what, name]);
      expect([what, (await askOpenssl(bytes)).name]).toEqual([what, name]);
      const failed = [...bytes.keys()].filter((at) => {
        const read = readAll([bytes.subarray(0, at), bytes.subarray(at)]);
        return !isDeepStrictEqual(read, expected);
      });
      expect([what, failed]).toEqual([what, []]);
    }
  });

  test('may come byte by byte, and in records of every size', async () => {
    for (const [, body] of await validHellos()) {
      const expected = parseClientHello(body);
      expect(readAll(pieces(inRecords(body), 1))).toEqual(expected);
      const message = body.length + handshakeHeader;
      // RFC 8446 section 5.1: a record has at most 16 KiB.
      for (let size = 1; size <= Math.min(message, 16_384); size += Math.ceil(message / scaled(20, 500))) {
        const bytes = inRecords(body, size);
        // The headers of the records count, too.
        const isTooLong = bytes.length > limit;
        const read = readAll(pieces(bytes, 1_460));
        if (isTooLong) expect([expected, 'too-long']).toContainEqual(read);
        else expect(read).toEqual(expected);
      }
    }
  });

  test('key shares of post-quantum groups do not fit into one packet', async () => {
    expect((await validHellos()).get('post-quantum')?.length).toBeGreaterThan(1_460);
  });

  test('of the command openssl have the name that was asked for', async () => {
    const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
    // Continuous integration has the command.
    if (!hasOpenssl) expect(process.env['CI']).toBeUndefined();
    else expect(await helloOfCommand()).toMatchObject({ serverName: name, protocols: ['mqtt'] });
  });

  test('have ten seconds and 16 KiB', () => {
    expect(defaultLimits.tlsHandshakeTimeout).toBe(10_000);
    expect(readAll([inRecords(helloBody([[21, Buffer.alloc(longestHello)]]))])).toBe('too-long');
  });
});

test('damaged ClientHellos never throw, hold no more than the limit, and have the name that OpenSSL reads', async () => {
  const random = randomFrom(seed);
  const bodies = [...(await validHellos()).values()].filter(({ length }) => length < 4_000);
  const turns = scaled(300, 5_000);
  let agreed = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const body = damaged(bodies[Math.floor(random() * bodies.length)] ?? Buffer.alloc(0), random);
    const bytes = inRecords(body, 1 + Math.floor(random() * 3_000));
    const read = readAll(pieces(bytes, 1 + Math.floor(random() * 600)));
    if (areAgreed(read, await askOpenssl(bytes))) agreed += 1;
  }
  // Changes of random bytes, key shares and unknown extensions leave a ClientHello valid.
  expect(agreed).toBeGreaterThan(turns / 10);
}, 300_000);

test('random bytes in records never throw, and hold no more than the limit', () => {
  const random = randomFrom(seed + 1);
  for (let turn = 0; turn < scaled(100, 5_000); turn += 1) {
    const body = Buffer.from(Array.from({ length: Math.floor(random() * 3_000) }, () => Math.floor(random() * 256)));
    const read = readAll(pieces(inRecords(body, 1 + Math.floor(random() * 300)), 1 + Math.floor(random() * 300)));
    expect(typeof read === 'object' && read.protocols.some((protocol) => protocol === '')).toBe(false);
  }
});

/** Changes, removes, inserts or repeats some bytes. */
function damaged(body: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(body);
  for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
    const at = Math.floor(random() * bytes.length);
    const length = Math.floor(random() * 8);
    const kind = Math.floor(random() * 6);
    if (kind < 3)
      bytes[at] = kind === 0 ? Math.floor(random() * 256) : (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    else if (kind === 4)
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.alloc(length, Math.floor(random() * 256)),
        bytes.subarray(at),
      ]);
  }
  return bytes;
}

async function helloOfCommand(): Promise<ClientHello | HelloFailure | undefined> {
  const { promise, resolve } = Promise.withResolvers<ClientHello | HelloFailure>();
  const server = createTcpServer((socket) => {
    const reader = new HelloReader(limit);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      const read = reader.take(chunk);
      if (read === undefined) return;
      resolve(read);
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const command = spawn(
    'openssl',
    ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', name, '-alpn', 'mqtt'],
    { stdio: 'ignore' },
  );
  const read = await promise;
  await once(command, 'exit');
  server.close();
  return read;
}
