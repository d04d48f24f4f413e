import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { directAccess, readInto, writableHandle } from '../../../../src/proxy/sockets/direct.ts';
import { Output } from '../../../../src/proxy/sockets/output.ts';
import { readBuffer } from '../../../../src/proxy/limits/read-buffer.ts';
import { eventually } from '../../../support/eventually.ts';

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Two ends of a TCP connection. */
async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  await once(near, 'connect');
  const [far] = await accepted;
  server.close();
  for (const socket of [near, far]) open.push(socket.on('error', () => undefined));
  return { near, far };
}

// If one of these tests fails with another release of Node, data planes with it use the streams of sockets, and take more
// processor time. The metric sallyport_proxy_direct_sockets shows it.
test('Node still has the parts that direct access needs', async () => {
  const { near } = await pair();
  expect(directAccess).toEqual({ reads: true, writes: true });
  expect(writableHandle(near)).toBeDefined();
});

describe('reads into a buffer', () => {
  test('bypass the stream, and leave pauses and the end to it', async () => {
    const { near, far } = await pair();
    let received = '';
    expect(readInto(near, readBuffer, (length) => void (received += readBuffer.toString('latin1', 0, length)))).toBe(
      true,
    );
    near.resume();
    far.write('one');
    await eventually(() => expect(received).toBe('one'));
    expect(near.readableLength).toBe(0);
    near.pause();
    far.write('two');
    const ended = once(near, 'end');
    far.end();
    await once(far, 'finish');
    expect(received).toBe('one');
    near.resume();
    await ended;
    expect(received).toBe('onetwo');
  });

  test('go back to the stream', async () => {
    const { near, far } = await pair();
    readInto(near, readBuffer, () => undefined);
    readInto(near, readBuffer, (length) => near.push(Buffer.from(readBuffer.subarray(0, length))));
    const all = buffer(near);
    const sent = Buffer.alloc(3_000_000, 'x');
    far.end(sent);
    expect((await all).equals(sent)).toBe(true);
  });
});

describe('output', () => {
  test('is written at once while the kernel takes it', async () => {
    const { near, far } = await pair();
    const output = new Output(near, () => undefined);
    output.write('one ');
    output.writeAround('two ', Buffer.from('three'), ' four ');
    const done = await new Promise<number>((resolve) => output.writeLast('five', () => resolve(output.waiting)));
    expect(done).toBe(0);
    near.end();
    expect(String(await buffer(far))).toBe('one two three four five');
  });

  test('keeps its order and its bytes while it waits, whatever the memory is used for', async () => {
    const { near, far } = await pair();
    let drained = 0;
    const output = new Output(near, () => (drained += 1));
    const expected: string[] = [];
    const piece = Buffer.allocUnsafe(60_000);
    for (let count = 0; !(output.waiting > 1_000_000 && count > 20); count += 1) {
      const letter = String.fromCharCode(97 + (count % 26));
      piece.fill(letter);
      output.writeAround(`<${count}:`, piece, '>');
      output.write(`[${count}]`);
      expected.push(`<${count}:`, letter.repeat(piece.length), `>[${count}]`);
    }
    piece.fill('!');
    expect(output.isFull).toBe(true);
    let isDone = false;
    output.writeLast('end', () => (isDone = true));
    expect(isDone).toBe(false);
    near.end();
    expect(String(await buffer(far)) === `${expected.join('')}end`).toBe(true);
    await eventually(() => expect(isDone).toBe(true));
    expect(drained).toBeGreaterThan(0);
    expect(output.waiting).toBe(0);
  });

  test('ends the connection when the peer resets it', async () => {
    const { near, far } = await pair();
    const output = new Output(near, () => undefined);
    const closed = new Promise((resolve) => near.once('close', resolve));
    far.resetAndDestroy();
    await eventually(() => {
      output.write('x');
      expect(near.destroyed).toBe(true);
    });
    await closed;
    output.write('ignored');
    output.writeAround('', Buffer.from('ignored'), '');
    let isDone = false;
    output.writeLast('ignored', () => (isDone = true));
    expect(isDone).toBe(false);
    expect(output.waiting).toBe(0);
  });

  test('without a handle uses the stream', async () => {
    const stream = new PassThrough() as unknown as Socket;
    expect(writableHandle(stream)).toBeUndefined();
    expect(readInto(stream, readBuffer, () => undefined)).toBe(false);
    const output = new Output(stream, () => undefined);
    output.write('é');
    output.writeAround('a', Buffer.from('b'), 'c');
    await new Promise<void>((resolve) => output.writeLast('d', resolve));
    stream.end();
    expect((await buffer(stream)).toString('latin1')).toBe('éabcd');
  });
});
