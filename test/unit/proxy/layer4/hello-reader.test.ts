import { Duplex, duplexPair } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { HelloReader, longestHello, readHello } from '../../../../src/proxy/layer4/hello-reader.ts';
import {
  helloBody,
  helloOf,
  inRecords,
  protocolsExtension,
  serverNameExtension,
} from '../../../support/client-hello.ts';

const limit = 32 * 1024;
const body = helloBody([serverNameExtension('shop.example.com'), protocolsExtension('h2')]);
const expected = { serverName: 'shop.example.com', protocols: ['h2'] };

function readAll(bytes: Buffer, size = bytes.length): ReturnType<HelloReader['take']> {
  const reader = new HelloReader(limit);
  for (let begin = 0; begin < bytes.length; begin += size) {
    const result = reader.take(bytes.subarray(begin, begin + size));
    if (result !== undefined) {
      expect(reader.bytes).toEqual(bytes.subarray(0, Math.min(begin + size, bytes.length)));
      return result;
    }
  }
  return undefined;
}

describe('HelloReader', () => {
  test.each([1, 2, 3, 4, 5, 7, 100])('reads a hello in records of %i bytes, in pieces of any size', (recordSize) => {
    const bytes = inRecords(body, recordSize);
    for (const size of [1, 2, 5, 6, 50, bytes.length]) expect(readAll(bytes, size)).toEqual(expected);
  });

  test('reads a hello split in two at every byte', () => {
    const bytes = inRecords(body);
    for (let split = 1; split < bytes.length; split += 1) {
      const reader = new HelloReader(limit);
      expect(reader.take(bytes.subarray(0, split))).toBeUndefined();
      expect(reader.take(bytes.subarray(split))).toEqual(expected);
      expect(reader.bytes).toEqual(bytes);
    }
  });

  test('keeps what comes behind the hello', () => {
    const bytes = Buffer.concat([inRecords(body), Buffer.from('early data')]);
    const reader = new HelloReader(limit);
    expect(reader.take(bytes)).toEqual(expected);
    expect(reader.bytes).toEqual(bytes);
  });

  test('reads a hello with post-quantum key shares', async () => {
    const bytes = await helloOf({ servername: 'a.example.com', ecdhCurve: 'X25519MLKEM768' });
    expect(bytes.length).toBeGreaterThan(1_300);
    expect(readAll(bytes, 1)).toEqual({ serverName: 'a.example.com', protocols: [] });
  });

  test('reads a hello as long as OpenSSL takes, and no longer one', () => {
    const long = (length: number): Buffer => {
      const base = helloBody([serverNameExtension('a'), [21, Buffer.alloc(0)]]).length;
      return helloBody([serverNameExtension('a'), [21, Buffer.alloc(length - base)]]);
    };
    expect(readAll(inRecords(long(longestHello)), 1_000)).toEqual({ serverName: 'a', protocols: [] });
    expect(readAll(inRecords(long(longestHello + 1)), 1_000)).toBe('too-long');
  });

  test('holds no more bytes than the limit', () => {
    const reader = new HelloReader(100);
    const bytes = inRecords(body, 1);
    expect(reader.take(bytes.subarray(0, 100))).toBeUndefined();
    expect(reader.take(bytes.subarray(100, 101))).toBe('too-long');
  });

  const wrong: readonly (readonly [string, Buffer])[] = [
    ['another record', Buffer.from([23])],
    ['another version', Buffer.from([22, 2])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
    ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 1])],
    ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 40])],
    ['an empty message', Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])],
    [
      'an alert between two records',
      Buffer.concat([inRecords(body, 10).subarray(0, 15), Buffer.from([21, 3, 1, 0, 2, 1, 0])]),
    ],
    [
      'a second message in the last record',
      Buffer.concat([
        Buffer.from([22, 3, 1, 0, body.length + 8, 1, 0, 0, body.length]),
        body,
        Buffer.from([1, 0, 0, 0]),
      ]),
    ],
  ];
  test.each(wrong)('rejects %s at once', (_what, bytes) => {
    expect(readAll(bytes, 1)).toBe('malformed');
    expect(readAll(bytes)).toBe('malformed');
  });
});

describe('readHello', () => {
  const limits = { helloBytes: limit, tlsHandshakeTimeout: 10_000 };

  /** One end of a pair behaves as a socket as far as reading goes. */
  function connection(): { readonly near: Socket; readonly far: Duplex } {
    const [near, far] = duplexPair();
    return { near: near as unknown as Socket, far };
  }

  test('gives every byte back', async () => {
    const { near, far } = connection();
    const bytes = inRecords(body, 20);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    readHello(near, limits, resolve);
    for (const byte of bytes) far.write(Buffer.from([byte]));
    expect(await promise).toEqual(expected);
    far.end('more');
    const chunks: Buffer[] = [];
    for await (const chunk of near) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks)).toEqual(Buffer.concat([bytes, Buffer.from('more')]));
  });

  test.each([
    ['malformed', (far: Duplex) => far.write('x')],
    ['malformed', (far: Duplex) => far.end(inRecords(body).subarray(0, 20))],
  ] as const)('tells once that a hello is %s', async (failure, send) => {
    const { near, far } = connection();
    const results: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    readHello(near, limits, (result) => {
      results.push(result);
      resolve();
    });
    send(far);
    await promise;
    near.destroy();
    far.destroy();
    await new Promise(setImmediate);
    expect(results).toEqual([failure]);
  });

  test('gives up after the time for a handshake', async () => {
    const { near, far } = connection();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    readHello(near, { ...limits, tlsHandshakeTimeout: 10 }, resolve);
    far.write(inRecords(body).subarray(0, 20));
    expect(await promise).toBe('timeout');
  });
});
