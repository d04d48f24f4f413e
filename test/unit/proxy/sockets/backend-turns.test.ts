import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { BackendTurns } from '../../../../src/proxy/sockets/backend-turns.ts';
import { readBuffer, readPiece } from '../../../../src/proxy/limits/read-buffer.ts';
import { slice } from '../../../../src/time/slices.ts';

/** A connection to a backend, which notes its name and the bytes that are handled. */
function connection(turns: BackendTurns, name: string, handled: string[], work = slice) {
  const socket = new PassThrough();
  const take = turns.of(socket as unknown as Socket, (bytes) => {
    handled.push(`${name}: ${bytes.toString()}`);
    const until = performance.now() + work;
    while (performance.now() < until);
  });
  socket.on('data', take);
  return { socket, take };
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('bytes of backends', () => {
  test('are handled at once while they take little time', async () => {
    const handled: string[] = [];
    await turn();
    const { socket, take } = connection(new BackendTurns(), 'a', handled, 0);
    take(Buffer.from('1'));
    take(Buffer.from('2'));
    expect(handled).toEqual(['a: 1', 'a: 2']);
    expect(socket.isPaused()).toBe(false);
  });

  test('wait for later turns after a slice of time, and backends take turns', async () => {
    const handled: string[] = [];
    await turn();
    const [busy, other] = [new BackendTurns(), new BackendTurns()];
    const many = ['a', 'b', 'c'].map((name) => connection(busy, name, handled));
    const { take } = connection(other, 'other', handled);
    for (const connected of many) connected.take(Buffer.from('1'));
    take(Buffer.from('1'));
    expect(handled).toEqual(['a: 1']);
    expect(many.map(({ socket }) => socket.isPaused())).toEqual([false, true, true]);
    await turn();
    expect(handled).toEqual(['a: 1', 'b: 1']);
    await turn();
    expect(handled).toEqual(['a: 1', 'b: 1', 'other: 1']);
    await turn();
    expect(handled).toEqual(['a: 1', 'b: 1', 'other: 1', 'c: 1']);
    expect(many.some(({ socket }) => socket.isPaused())).toBe(false);
  });

  test('that wait are a copy, and stay in order', async () => {
    const handled: string[] = [];
    await turn();
    const turns = new BackendTurns();
    connection(turns, 'a', handled).take(Buffer.from('1'));
    const { take } = connection(turns, 'b', handled);
    readBuffer.write('23');
    take(readPiece(1));
    take(Buffer.from('3'));
    readBuffer.write('xx');
    await turn();
    expect(handled).toEqual(['a: 1', 'b: 23']);
  });

  test.each(['end', 'close'])('that wait are handled before the event %s of their connection', async (event) => {
    const handled: string[] = [];
    await turn();
    const turns = new BackendTurns();
    connection(turns, 'a', handled).take(Buffer.from('1'));
    const { socket, take } = connection(turns, 'b', handled);
    socket.on(event, () => handled.push(event));
    take(Buffer.from('2'));
    socket.emit(event);
    take(Buffer.from('3'));
    expect(handled).toEqual(['a: 1', 'b: 2', event, 'b: 3']);
    await turn();
    expect(handled).toHaveLength(4);
  });

  test('are handled at once if too many wait', async () => {
    const handled: string[] = [];
    await turn();
    const turns = new BackendTurns();
    connection(turns, 'a', handled).take(Buffer.from('1'));
    let bytes = 0;
    const socket = new PassThrough();
    const take = turns.of(socket as unknown as Socket, ({ length }) => (bytes += length));
    const piece = Buffer.alloc(1024 * 1024);
    for (let count = 0; count < 16; count += 1) take(piece);
    expect(bytes).toBe(0);
    take(piece);
    expect(bytes).toBe(17 * piece.length);
    await turn();
    expect(bytes).toBe(17 * piece.length);
  });
});
