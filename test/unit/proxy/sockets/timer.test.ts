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
