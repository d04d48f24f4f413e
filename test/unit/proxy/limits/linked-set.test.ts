import { beforeEach, expect, test } from '@jest/globals';
import { LinkedSet } from '../../../../src/proxy/limits/linked-set.ts';

const place = Symbol('test');
const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
let set: LinkedSet<{ readonly name: string }>;

beforeEach(() => {
  set = new LinkedSet(place);
  for (const value of [a, b, c]) set.add(value);
});

test('values are in order of addition', () => {
  expect([...set]).toEqual([a, b, c]);
  expect([set.first, set.last, set.size]).toEqual([a, c, 3]);
});

test('a value that is added or renewed again becomes the last one', () => {
  set.add(a);
  expect(set.renew(b)).toBe(true);
  expect([...set]).toEqual([c, a, b]);
  expect(set.size).toBe(3);
});

test('a deleted value is in the set no longer, and is not renewed', () => {
  expect(set.delete(b)).toBe(true);
  expect(set.delete(b)).toBe(false);
  expect(set.renew(b)).toBe(false);
  expect(set.has(b)).toBe(false);
  expect([...set]).toEqual([a, c]);
});

test('a set knows values of another set with the same place only after they were added to it', () => {
  const other = new LinkedSet<{ readonly name: string }>(place);
  expect([other.has(a), other.delete(a), other.renew(a)]).toEqual([false, false, false]);
  other.add(a);
  expect([...other]).toEqual([a]);
  expect([...set]).toEqual([b, c]);
});

test('values that are removed during an iteration are not visited, and added ones neither', () => {
  const visited: string[] = [];
  for (const { name } of set) {
    visited.push(name);
    set.delete(b);
    set.add({ name: 'd' });
  }
  expect(visited).toEqual(['a', 'c']);
});

test('a cleared set is empty', () => {
  set.clear();
  expect([set.first, set.last, set.size, set.has(a)]).toEqual([undefined, undefined, 0, false]);
});
