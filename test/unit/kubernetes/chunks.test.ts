import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, jest, test } from '@jest/globals';
import { readChunks } from '../../../src/kubernetes/chunks.ts';
import { ReadingPace } from '../../../src/kubernetes/index.ts';
import { monotonicNow } from '../../../src/time/clock.ts';
import { eventually } from '../../support/eventually.ts';

const mebi = 2 ** 20;

/** A connection on which more bytes arrive in each turn of the event loop, without end. */
function endless(): Readable {
  return new Readable({
    read() {
      setImmediate(() => this.push(Buffer.alloc(mebi / 4)));
    },
  });
}

test('readers that collect bytes after a pause leave the rest in their connections', async () => {
  // No pause ends by itself.
  const pace = new ReadingPace(() => 1_000_000);
  const sources = Array.from({ length: 10 }, endless);
  const pieces: number[] = [];
  const readers = sources.map(async (source) => {
    for await (const piece of readChunks(source, pace)) pieces.push(piece.length);
  });
  await eventually(() => expect(pieces).toHaveLength(sources.length));
  for (let round = 0; round < 3; round += 1) {
    const before = pieces.length;
    await pace.catchUp();
    await eventually(() => expect(pieces.length).toBeGreaterThan(before));
    const read = pieces.slice(before).reduce((sum, length) => sum + length, 0);
    expect(read).toBeLessThanOrEqual(8 * mebi + sources.length * (mebi / 4));
  }
  for (const source of sources) source.destroy(new Error('the end'));
  void pace.catchUp();
  expect((await Promise.allSettled(readers)).map(({ status }) => status)).toEqual(sources.map(() => 'rejected'));
});

test('a reader that works for long gives others a turn before the next piece', async () => {
  const server = createServer((socket) => socket.end(Buffer.alloc(mebi))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const turns: number[] = [];
  for await (const _piece of readChunks(connection)) {
    turns.push(turn);
    const begun = monotonicNow();
    while (monotonicNow() - begun < 20);
  }
  clearImmediate(counting);
  server.close();
  expect(turns.length).toBeGreaterThan(4);
  expect(new Set(turns).size).toBe(turns.length);
});

// A process follows dozens of kinds, whose events may arrive in the same turn.
test('readers that work at the same time share a slice of each turn', async () => {
  const server = createServer((socket) => socket.end(Buffer.alloc(mebi))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let time = 0;
  const now = jest.spyOn(performance, 'now').mockImplementation(() => time);
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const piecesInTurn = new Map<number, number>();
  const readers = Array.from({ length: 10 }, async () => {
    const connection = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    for await (const _piece of readChunks(connection)) {
      piecesInTurn.set(turn, (piecesInTurn.get(turn) ?? 0) + 1);
      time += 4;
    }
  });
  await Promise.all(readers).finally(() => {
    now.mockRestore();
    clearImmediate(counting);
    server.close();
  });
  // Each reader gets one piece, and all of them together two more.
  expect(Math.max(...piecesInTurn.values())).toBeLessThanOrEqual(12);
});
