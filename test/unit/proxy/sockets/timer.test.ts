import { setImmediate as othersFirst, setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Timer } from '../../../../src/proxy/sockets/timer.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test.each([1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5])('%d milliseconds are that long', (delay) => {
  const expire = jest.fn();
  const timer = new Timer(delay, expire);
  jest.advanceTimersByTime(delay - 1);
  expect(expire).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  // It expires in the turn of the event loop after that.
  jest.advanceTimersToNextTimer();
  expect(expire).toHaveBeenCalledTimes(1);
  timer.cancel();
});

test('a cancelled timer never fires, not even in its second round', () => {
  const expire = jest.fn();
  const timer = new Timer(2 ** 32, expire);
  jest.advanceTimersByTime(2 ** 31);
  timer.cancel();
  expect(jest.getTimerCount()).toBe(0);
  jest.advanceTimersByTime(2 ** 33);
  expect(expire).not.toHaveBeenCalled();
});

test('a few of many timers that are due at the same moment expire in a turn of the event loop', async () => {
  jest.useRealTimers();
  const expire = jest.fn();
  for (let count = 0; count < 500; count += 1) void new Timer(1, expire);
  let most = 0;
  for (let before = 0; before < 500;) {
    await othersFirst();
    const { length } = expire.mock.calls;
    most = Math.max(most, length - before);
    before = length;
  }
  expect(most).toBeLessThanOrEqual(128);
});

test('a timer that is cancelled while others expire does not', async () => {
  jest.useRealTimers();
  const expire = jest.fn();
  const other = new Timer(1, () => timer.cancel());
  const timer = new Timer(1, expire);
  await delay(20);
  other.cancel();
  expect(expire).not.toHaveBeenCalled();
});
