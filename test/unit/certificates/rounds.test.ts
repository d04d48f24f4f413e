import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startRounds, type Rounds } from '../../../src/certificates/rounds.ts';

let rounds: Rounds;
let begun: number;
let finish: (due: number) => void;
let fail: (error: Error) => void;
const errors: unknown[] = [];

beforeEach(() => {
  jest.useFakeTimers();
  begun = 0;
  errors.length = 0;
});

afterEach(async () => {
  finish(0);
  await rounds.stop();
  jest.useRealTimers();
});

function start(wakeOn: readonly ((listener: () => void) => () => void)[] = []): void {
  const round = (): Promise<number> => {
    begun += 1;
    return new Promise((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
  };
  rounds = startRounds(round, { longest: 100, retry: 10, onError: (error) => errors.push(error), wakeOn });
}

async function end(due: number): Promise<void> {
  finish(due);
  await jest.advanceTimersByTimeAsync(0);
}

describe('rounds', () => {
  test('begin at once, and then when they are due', async () => {
    start();
    expect(begun).toBe(1);
    await end(50);
    await jest.advanceTimersByTimeAsync(49);
    expect(begun).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toBe(2);
  });

  test('are started by others at most ten times in a second', async () => {
    start();
    for (let count = 0; count < 100; count += 1) {
      await end(100);
      rounds.wake();
    }
    expect(begun).toBe(10);
    await jest.advanceTimersByTimeAsync(999);
    expect(begun).toBe(10);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toBe(11);
  });

  test('never wait longer than they may, nor less than nothing', async () => {
    start();
    await end(2 ** 40);
    await jest.advanceTimersByTimeAsync(100);
    expect(begun).toBe(2);
    await end(-5);
    expect(begun).toBe(3);
  });

  test('never overlap: a wake during one starts another after it, once', async () => {
    start();
    rounds.wake();
    rounds.wake();
    expect(begun).toBe(1);
    await end(50);
    expect(begun).toBe(2);
    await end(50);
    expect(begun).toBe(2);
    rounds.wake();
    expect(begun).toBe(3);
  });

  test('come back after failures, later each time', async () => {
    start();
    for (const wait of [10, 20, 40, 80, 100]) {
      fail(new Error('no'));
      await jest.advanceTimersByTimeAsync(wait - 1);
      const before = begun;
      await jest.advanceTimersByTimeAsync(1);
      expect(begun).toBe(before + 1);
    }
    expect(errors).toHaveLength(5);
    await end(50);
    await jest.advanceTimersByTimeAsync(50);
    fail(new Error('again'));
    const before = begun;
    await jest.advanceTimersByTimeAsync(10);
    expect(begun).toBe(before + 1);
  });

  test('are woken by what they listen to, until they stop', async () => {
    const listeners = new Set<() => void>();
    const subscribe = (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    start([subscribe]);
    await end(50);
    for (const listener of listeners) listener();
    expect(begun).toBe(2);
    const stopped = rounds.stop();
    finish(0);
    await stopped;
    expect(listeners.size).toBe(0);
    rounds.wake();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(begun).toBe(2);
  });
});
