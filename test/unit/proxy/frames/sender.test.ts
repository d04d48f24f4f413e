import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { HpackDecoder } from '../../../../src/proxy/frames/hpack/decoder.ts';
import { Outgoing } from '../../../../src/proxy/frames/outgoing.ts';
import { frameTypes } from '../../../../src/proxy/frames/protocol.ts';
import { Sender } from '../../../../src/proxy/frames/sender.ts';
import { eventually } from '../../../support/eventually.ts';

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A socket that takes each write when it is told to, and the frames of every write. */
class FakeSocket extends Writable {
  readonly writes: Frame[][] = [];
  release: (() => void) | undefined;
  holds = false;

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'latin1', done);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      frames.push({
        type: bytes[at + 3] ?? 0,
        flags: bytes[at + 4] ?? 0,
        stream: bytes.readUInt32BE(at + 5),
        payload: bytes.subarray(at + 9, end),
      });
      at = end;
    }
    this.writes.push(frames);
    if (this.holds) this.release = done;
    else done();
  }
}

function start() {
  const socket = new FakeSocket();
  const events: string[] = [];
  const sender = new Sender(socket as unknown as Socket, {
    wrote: () => undefined,
    failed: (error) => events.push(`failed ${String(error)}`),
    unread: () => events.push('unread'),
    guard: (_outgoing, action) => action(),
  });
  socket.on('drain', () => sender.drained());
  const open = (id: number, window = 65_535): Outgoing =>
    new Outgoing(id, window, {
      drained: () => events.push(`drained ${id}`),
      sent: () => events.push(`sent ${id}`),
    });
  return { socket, sender, open, events };
}

/** Passes a complete response to the sender. */
function respond(sender: Sender, outgoing: Outgoing, body: Buffer, trailers: readonly string[] = []): void {
  outgoing.heads.push({ status: 200, fields: ['x-a', '1'], hasDate: true, endsStream: false });
  if (body.length > 0) outgoing.add(body);
  outgoing.trailers = trailers;
  sender.want(outgoing);
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const shapeOf = (frames: readonly Frame[] = []): number[][] =>
  frames.map(({ type, flags, stream, payload }) => [type, flags, stream, payload.length]);

describe('a sender', () => {
  test('of many connections with expensive heads leaves some of them for later turns, and none out', async () => {
    const all = Array.from({ length: 200 }, () => start());
    const fields = Array.from({ length: 390 }, (_, index) => (index % 2 === 0 ? `x-${index}` : `${index}`.repeat(50)));
    for (const { sender, open } of all) {
      const outgoing = open(1);
      outgoing.heads.push({ status: 200, fields, hasDate: true, endsStream: true });
      outgoing.trailers = [];
      sender.want(outgoing);
    }
    const written = (): number => all.filter(({ socket }) => socket.writes.length > 0).length;
    await turn();
    const first = written();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(all.length);
    expect(all.slice(0, first).every(({ socket }) => socket.writes.length === 1)).toBe(true);
    await eventually(() => expect(written()).toBe(all.length));
    expect(all.every(({ events }) => events.join() === 'sent 1')).toBe(true);
  });

  test('writes the responses of one turn at once, and small ones without an extra frame for their end', async () => {
    const { socket, sender, open, events } = start();
    respond(sender, open(1), Buffer.from('one'));
    respond(sender, open(3), Buffer.alloc(0));
    respond(sender, open(5), Buffer.from('five'), ['x-sum', '1']);
    await turn();
    expect(socket.writes).toHaveLength(1);
    expect(shapeOf(socket.writes[0]).map(([type, flags, stream]) => [type, flags, stream])).toEqual([
      [frameTypes.headers, 4, 1],
      [frameTypes.data, 1, 1],
      [frameTypes.headers, 5, 3],
      [frameTypes.headers, 4, 5],
      [frameTypes.data, 0, 5],
      [frameTypes.headers, 5, 5],
    ]);
    expect(events).toEqual(['sent 1', 'sent 3', 'sent 5']);
  });

  test('the same head takes the same bytes, and another one its own', async () => {
    const { socket, sender, open } = start();
    const fields = ['x-a', '1'];
    for (const [id, status] of [
      [1, 200],
      [3, 200],
      [5, 200],
      [7, 404],
      [9, 200],
    ] as const) {
      const outgoing = open(id);
      outgoing.heads.push({ status, fields, hasDate: true, endsStream: true });
      sender.want(outgoing);
    }
    await turn();
    const decoder = new HpackDecoder(4_096);
    const heads = socket.writes[0]?.map(({ payload }) => {
      const lines: string[] = [];
      decoder.begin(payload);
      for (let field = decoder.next(); field !== undefined; field = decoder.next())
        lines.push(`${field.name}: ${field.value}`);
      return lines;
    });
    expect(heads).toEqual([200, 200, 200, 404, 200].map((status) => [`:status: ${status}`, 'x-a: 1']));
  });

  test('the windows of stream and connection limit DATA, and streams take turns', async () => {
    const { socket, sender, open, events } = start();
    const [one, two] = [open(1, 20_000), open(3)];
    respond(sender, one, Buffer.alloc(30_000));
    respond(sender, two, Buffer.alloc(60_000));
    await turn();
    await turn();
    const data = socket.writes.flat().filter(({ type }) => type === frameTypes.data);
    expect(shapeOf(data)).toEqual([
      [0, 0, 1, 16_384],
      [0, 0, 3, 16_384],
      [0, 0, 1, 3_616],
      [0, 0, 3, 16_384],
      [0, 0, 3, 12_767],
    ]);
    expect([one.window, sender.window]).toEqual([0, 0]);
    sender.window += 100_000;
    sender.windowGrew();
    one.window += 100_000;
    sender.want(one);
    await turn();
    await turn();
    expect(events).toEqual(['sent 1', 'sent 3']);
    const bytes = (id: number): number =>
      socket.writes
        .flat()
        .filter(({ type, stream }) => type === frameTypes.data && stream === id)
        .reduce((sum, { payload }) => sum + payload.length, 0);
    expect([bytes(1), bytes(3)]).toEqual([30_000, 60_000]);
  });

  test('a sender that was full is told when nothing waits any more', async () => {
    const { sender, open, events } = start();
    const outgoing = open(1, 1_000_000);
    sender.window = 1_000_000;
    expect(outgoing.add(Buffer.alloc(64 * 1024))).toBe(true);
    expect(outgoing.add(Buffer.alloc(1))).toBe(false);
    sender.want(outgoing);
    await turn();
    await turn();
    expect(events).toEqual(['drained 1']);
  });

  test('a reset drops what waits, and is sent', async () => {
    const { socket, sender, open, events } = start();
    const outgoing = open(1);
    respond(sender, outgoing, Buffer.from('body'));
    sender.drop(outgoing);
    sender.reset(1, 8);
    sender.want(outgoing);
    await turn();
    expect(shapeOf(socket.writes[0])).toEqual([[frameTypes.reset, 0, 1, 4]]);
    expect(events).toEqual([]);
  });

  test('a client that does not read gets no more, and only so many control frames', async () => {
    const { socket, sender, open, events } = start();
    socket.holds = true;
    sender.window = 1_000_000;
    respond(sender, open(1, 1_000_000), Buffer.alloc(100_000));
    await turn();
    await turn();
    const sent = socket.writes.length;
    respond(sender, open(3), Buffer.from('more'));
    for (let count = 0; count < 999; count += 1) sender.frame(frameTypes.ping, 1, 0, Buffer.alloc(8));
    await turn();
    expect(socket.writes).toHaveLength(sent);
    expect(events).toEqual([]);
    sender.frame(frameTypes.ping, 1, 0, Buffer.alloc(8));
    expect(events).toEqual(['unread']);
    sender.close();
  });

  test('heads and trailers of a response wait until they are sent', async () => {
    const { socket, sender, open, events } = start();
    const outgoing = open(1, 0);
    const fields = ['x-a', 'a'.repeat(1_000)];
    outgoing.addHead({ status: 200, fields, hasDate: true, endsStream: false });
    expect(outgoing.waitingBytes).toBeGreaterThan(1_000);
    sender.want(outgoing);
    await turn();
    expect(socket.writes).toHaveLength(1);
    expect(outgoing.waitingBytes).toBe(0);
    expect(events).toEqual(['drained 1']);
    outgoing.add(Buffer.alloc(10));
    outgoing.trailers = fields;
    expect(outgoing.waitingBytes).toBeGreaterThan(1_010);
    sender.drop(outgoing);
    expect(outgoing.waitingBytes).toBe(0);
  });

  test('pieces that wait for a client that does not read keep no larger memory', async () => {
    const { socket, sender, open } = start();
    socket.holds = true;
    sender.window = 1_000_000;
    respond(sender, open(1, 1_000_000), Buffer.alloc(100_000));
    await turn();
    const read = Buffer.alloc(65_536, 'a');
    respond(sender, open(3), read.subarray(0, 100));
    await turn();
    read.fill('b');
    socket.holds = false;
    socket.release?.();
    await eventually(() =>
      expect(
        socket.writes.flat().find(({ type, stream }) => type === frameTypes.data && stream === 3)?.payload,
      ).toEqual(Buffer.alloc(100, 'a')),
    );
  });

  test('an unexpected error ends one connection, whose frames do not reach others', async () => {
    const [broken, other] = [start(), start()];
    const outgoing = broken.open(1);
    outgoing.heads.push({
      get status(): number {
        throw new Error('unexpected');
      },
      fields: [],
      hasDate: true,
      endsStream: true,
    });
    broken.sender.frame(frameTypes.ping, 1, 0, Buffer.alloc(8));
    broken.sender.want(outgoing);
    respond(other.sender, other.open(7), Buffer.from('whole'));
    await turn();
    expect(broken.events).toEqual(['failed Error: unexpected']);
    expect(other.socket.writes.map((frames) => frames.map(({ stream }) => stream))).toEqual([[7, 7]]);
  });
});

describe('windows of one byte', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  test('get a limited number of frames in each interval, until they are larger', async () => {
    const { socket, sender, open } = start();
    const outgoings = Array.from({ length: 50 }, (_, index) => open(2 * index + 1, 1));
    const frames = (): number => socket.writes.flat().filter(({ type }) => type === frameTypes.data).length;
    for (const outgoing of outgoings) respond(sender, outgoing, Buffer.alloc(1_000));
    await turn();
    expect(frames()).toBe(16);
    for (let round = 0; round < 10; round += 1) {
      for (const outgoing of outgoings) {
        outgoing.window += 1;
        sender.want(outgoing);
      }
      await turn();
    }
    expect(frames()).toBe(16);
    jest.advanceTimersByTime(250);
    await turn();
    expect(frames()).toBe(32);
    for (const outgoing of outgoings) {
      outgoing.window += 1_000;
      sender.want(outgoing);
    }
    await turn();
    await turn();
    expect(outgoings.every(({ isSent }) => isSent)).toBe(true);
    sender.close();
  });
});

test('a connection forgets its compressed fields after a period without heads, also while a response is under way', async () => {
  const { socket, sender, open } = start();
  const send = async (id: number): Promise<Buffer> => {
    respond(sender, open(id), Buffer.alloc(0));
    await eventually(() => expect(socket.writes.flat().some(({ stream }) => stream === id)).toBe(true));
    return socket.writes.flat().find(({ stream }) => stream === id)?.payload ?? Buffer.alloc(0);
  };
  const first = await send(1);
  sender.forgetUnused();
  // A head was sent in the period that has ended.
  expect((await send(3)).length).toBeLessThan(first.length);
  sender.forgetUnused();
  sender.forgetUnused();
  // The peer is told to empty its table.
  expect((await send(5)).toString('hex')).toBe(`203fe11f${first.toString('hex')}`);
});

test('a connection that is closed does not count among those with compressed fields', () => {
  const fields = Array.from({ length: 120 }, (_, index) => `x-${index}`);
  const lengths = (): (number | undefined)[] => {
    const { socket, sender, open } = start();
    for (const id of [1, 3]) {
      const outgoing = open(id);
      outgoing.heads.push({ status: 200, fields, hasDate: true, endsStream: true });
      outgoing.trailers = [];
      sender.want(outgoing);
      sender.flush();
    }
    sender.close();
    return socket.writes.flat().map(({ payload }) => payload.length);
  };
  const before = lengths();
  expect(before[1]).toBeLessThan(before[0] ?? 0);
  // More than all connections together may have.
  for (let index = 0; index < 2_000; index += 1) lengths();
  expect(lengths()).toEqual(before);
});
