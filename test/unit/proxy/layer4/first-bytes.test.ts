import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { traceLength, traceStart } from '../../../../src/channel/trace.ts';
import { FirstBytes, tracePatience } from '../../../../src/proxy/layer4/first-bytes.ts';

const trace = Buffer.concat([traceStart, Buffer.alloc(traceLength - traceStart.length, 'a')]);
const later = Buffer.from('later');

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** A connection whose bytes come by `push`, as those of a socket. */
function watched(early: readonly Buffer[] = []) {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  for (const chunk of early) socket.push(chunk);
  const seen: Buffer[] = [];
  let plain = 0;
  const first = new FirstBytes(socket, {
    isTrace: (bytes) => {
      seen.push(bytes);
      return bytes.subarray(0, traceLength).equals(trace);
    },
    plain: () => (plain += 1),
  });
  return {
    socket,
    first,
    seen,
    plain: () => plain,
    /** Everything that can be read by now. */
    read: () => {
      const chunks: Buffer[] = [];
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
        chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };
}

describe('other bytes', () => {
  test.each<[string, Buffer]>([
    ['text', Buffer.from('hello')],
    ['one byte', Buffer.from('h')],
    ['a length that begins like a trace', Buffer.from([0xf5, 0, 0, 0])],
    ['almost a trace', Buffer.concat([traceStart.subarray(0, -1), Buffer.from('x')])],
  ])('pass at once: %s', (_name, bytes) => {
    const { socket, first, read, seen, plain } = watched();
    socket.push(bytes);
    expect(read()).toEqual(bytes);
    expect([seen.length, plain(), first.isUndecided]).toEqual([0, 1, false]);
    socket.push(trace);
    expect(read()).toEqual(trace);
  });

  test('in the form of a trace pass once they are checked', () => {
    const { socket, read, plain } = watched();
    const other = Buffer.concat([trace.subarray(0, -1), Buffer.from('b')]);
    socket.push(other.subarray(0, 50));
    expect(read()).toHaveLength(0);
    socket.push(other.subarray(50));
    socket.push(later);
    expect(read()).toEqual(Buffer.concat([other, later]));
    expect(plain()).toBe(1);
  });

  test('that may begin a trace pass when the client waits', () => {
    const { socket, read, plain } = watched();
    socket.push(trace.subarray(0, 1));
    expect(read()).toHaveLength(0);
    jest.advanceTimersByTime(tracePatience);
    expect(read()).toEqual(trace.subarray(0, 1));
    expect(plain()).toBe(0);
    socket.push(later);
    expect(read()).toEqual(later);
    expect(plain()).toBe(1);
  });

  test.each([1, traceStart.length, traceLength - 1])(
    'that end after %d bytes of a trace pass before the end',
    (length) => {
      const { socket, read, plain } = watched();
      socket.push(trace.subarray(0, length));
      socket.push(null);
      expect(read()).toEqual(trace.subarray(0, length));
      expect(plain()).toBe(1);
    },
  );

  test('that came earlier stay in order', () => {
    const { socket, read, plain } = watched([Buffer.from('hel'), Buffer.from('lo')]);
    socket.push(later);
    expect(read().toString()).toBe('hellolater');
    expect(plain()).toBe(1);
  });
});

describe('a trace', () => {
  test('cannot be read, nor what follows, however it is split', () => {
    for (let at = 1; at < traceLength; at += 1) {
      const { socket, read, seen } = watched();
      socket.push(trace.subarray(0, at));
      socket.push(Buffer.concat([trace.subarray(at), later]));
      socket.push(later);
      expect(read()).toHaveLength(0);
      expect(seen).toHaveLength(1);
    }
  });

  test('cannot be read completely if the client waits within it', () => {
    for (let at = 1; at < traceLength; at += 1) {
      const { socket, read } = watched();
      socket.push(trace.subarray(0, at));
      jest.advanceTimersByTime(10 * tracePatience);
      socket.push(trace.subarray(at));
      expect(read()).toEqual(trace.subarray(0, at < traceStart.length ? at : 0));
    }
  });

  test('that came earlier cannot be read completely', () => {
    for (let at = 1; at <= traceLength; at += 1) {
      const { socket, read } = watched([trace.subarray(0, at)]);
      socket.push(trace.subarray(at));
      expect(read()).toEqual(trace.subarray(0, at < traceLength ? at : 0));
    }
  });

  test('does not keep the end of the connection', async () => {
    const { socket } = watched();
    socket.push(trace);
    socket.push(later);
    const ended = once(socket, 'end');
    socket.push(null);
    socket.resume();
    await ended;
    expect(socket.readableEnded).toBe(true);
  });
});
