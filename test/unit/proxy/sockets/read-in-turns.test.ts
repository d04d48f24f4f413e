import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createSecureContext, TLSSocket } from 'node:tls';
import { createAuthority } from '../../../../src/certificates/index.ts';
import { issueLeaf } from '../../../support/certificates.ts';
import { TlsPeer } from '../../../support/tls-peer.ts';
import { everyPieceInTurns, inTurns } from '../../../../src/proxy/sockets/read-in-turns.ts';

const piece = Buffer.alloc(64 * 1024);
const streams = new Set<Duplex>();
afterEach(() => {
  for (const stream of streams) stream.destroy();
  streams.clear();
});

/** A connection that is read in turns, and how many bytes have come. */
function connection(readIn = inTurns) {
  const stream = new PassThrough({ highWaterMark: 1024 * 1024 * 1024 });
  streams.add(stream);
  const read = { bytes: 0 };
  const received = readIn(stream as unknown as Socket);
  stream.on('data', (bytes: Buffer) => {
    received(bytes.length);
    read.bytes += bytes.length;
  });
  return { stream, read };
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('connections are read in turns', () => {
  test('one that brings much waits after a part of it, and gets everything in the end', async () => {
    const { stream, read } = connection();
    for (let count = 0; count < 100; count += 1) stream.emit('data', piece);
    expect(stream.isPaused()).toBe(true);
    for (let count = 0; count < 3; count += 1) await turn();
    expect(stream.isPaused()).toBe(false);
    expect(read.bytes).toBe(100 * piece.length);
  });

  test('little pieces are never counted', () => {
    const { stream } = connection();
    for (let count = 0; count < 10_000; count += 1) stream.emit('data', piece.subarray(0, 1_000));
    expect(stream.isPaused()).toBe(false);
  });

  test('one that its owner has paused stays paused', async () => {
    const { stream } = connection();
    for (let count = 0; count < 4; count += 1) stream.emit('data', piece);
    stream.pause();
    for (let count = 0; count < 5; count += 1) await turn();
    expect(stream.isPaused()).toBe(true);
    stream.resume();
    expect(stream.isPaused()).toBe(false);
  });

  test('its owner cannot resume it before its turn', async () => {
    const { stream } = connection();
    for (let count = 0; count < 4; count += 1) stream.emit('data', piece);
    stream.pause().resume();
    expect(stream.isPaused()).toBe(true);
    for (let count = 0; count < 3; count += 1) await turn();
    expect(stream.isPaused()).toBe(false);
  });

  test('a few go on in each turn, in the order in which they came', async () => {
    const many = Array.from({ length: 40 }, () => connection());
    for (const { stream } of many) for (let count = 0; count < 4; count += 1) stream.emit('data', piece);
    const states: number[] = [];
    while (many.some(({ stream }) => stream.isPaused())) {
      states.push(many.filter(({ stream }) => stream.isPaused()).length);
      const first = many.findIndex(({ stream }) => stream.isPaused());
      expect(many.slice(first).every(({ stream }) => stream.isPaused())).toBe(true);
      await turn();
    }
    expect(Math.max(...states.map((left, index) => (states[index - 1] ?? left) - left))).toBe(8);
  });

  test('relays with many little pieces go on after a turn, hundreds at a time', async () => {
    const many = Array.from({ length: 1_000 }, () => connection(everyPieceInTurns));
    const waiting = () => many.filter(({ stream }) => stream.isPaused()).length;
    await turn();
    for (const { stream } of many) stream.emit('data', piece.subarray(0, 1));
    expect(waiting()).toBe(1_000 - 256);
    await turn();
    expect(waiting()).toBe(1_000 - 2 * 256);
    for (let count = 0; count < 2; count += 1) await turn();
    expect(waiting()).toBe(0);
    expect(many.every(({ read }) => read.bytes === 1)).toBe(true);
  });

  // A paused stream goes on until its buffer has 64 KiB, which are 65,536 records of one byte.
  test('TLS decrypts no further records of a connection that waits', async () => {
    const count = 20_000;
    const pair = await issueLeaf(await createAuthority(), { dnsNames: ['a.example'] });
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [accepted] = (await once(server, 'connection')) as [Socket];
    const decrypted = new TLSSocket(accepted, { isServer: true, secureContext: createSecureContext(pair) });
    for (const stream of [socket, accepted, decrypted]) streams.add(stream.on('error', () => undefined));
    const peer = await TlsPeer.connect(socket);
    const received = everyPieceInTurns(decrypted);
    const read = { bytes: 0 };
    let waiting = 0;
    decrypted.on('data', (chunk: Buffer) => {
      received(chunk.length);
      read.bytes += chunk.length;
    });
    peer.write(Buffer.concat(Array.from({ length: count }, () => peer.data('x'))));
    while (read.bytes < count) {
      await turn();
      waiting = Math.max(waiting, decrypted.readableLength);
    }
    // One piece of 64 KiB from the kernel has 2,850 of these records.
    expect(waiting).toBeLessThan(2 * 2_850);
    server.close();
  });

  test('a relay with a few little pieces never waits', async () => {
    const { stream } = connection(everyPieceInTurns);
    await turn();
    for (let count = 0; count < 256; count += 1) stream.emit('data', piece.subarray(0, 1));
    expect(stream.isPaused()).toBe(false);
  });
});
