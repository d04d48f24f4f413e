import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ExpiringSet } from '../../../../src/proxy/limits/expiring-set.ts';
import type { Aging } from '../../../../src/proxy/limits/expiring-set.ts';

interface Named extends Aging {
  readonly name: string;
}

const lifetime = 1_000;
const expired: string[][] = [];
let set: ExpiringSet<Named>;
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, renewedAt: 0 })) as [Named, Named, Named];

beforeEach(() => {
  jest.useFakeTimers();
  expired.length = 0;
  set = new ExpiringSet(lifetime, (values) => void expired.push(values.map(({ name }) => name)));
});
afterEach(() => {
  jest.useRealTimers();
});

test('values end together with their lifetime, the oldest first', () => {
  set.add(a);
  set.add(b);
  jest.advanceTimersByTime(600);
  set.add(c);
  jest.advanceTimersByTime(399);
  expect(expired).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(expired).toEqual([['a', 'b']]);
  expect([set.first, set.size]).toEqual([c, 1]);
  jest.advanceTimersByTime(600);
  expect(expired).toEqual([['a', 'b'], ['c']]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a value that is renewed lives on, and becomes the youngest one', () => {
  set.add(a);
  set.add(b);
  jest.advanceTimersByTime(600);
  expect(set.renew(a)).toBe(true);
  expect(set.first).toBe(b);
  jest.advanceTimersByTime(400);
  expect(expired).toEqual([['b']]);
  jest.advanceTimersByTime(600);
  expect(expired).toEqual([['b'], ['a']]);
});

test('a value that was taken out does not end', () => {
  set.add(a);
  expect([set.delete(a), set.delete(a), set.renew(a)]).toEqual([true, false, false]);
  expect(jest.getTimerCount()).toBe(0);
  jest.advanceTimersByTime(2 * lifetime);
  expect(expired).toEqual([]);
});

test('a value that is added while others end has a lifetime of its own', () => {
  set = new ExpiringSet(lifetime, (values) => {
    expired.push(values.map(({ name }) => name));
    if (values.includes(a)) set.add(b);
  });
  set.add(a);
  jest.advanceTimersByTime(2 * lifetime - 1);
  expect(expired).toEqual([['a']]);
  jest.advanceTimersByTime(1);
  expect(expired).toEqual([['a'], ['b']]);
});
