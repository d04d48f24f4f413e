import { expect, test } from '@jest/globals';
import { ReleasingMap } from '../../../../src/proxy/limits/releasing-map.ts';

test('a value is found by its key until it is deleted', () => {
  const map = new ReleasingMap<number, { readonly name: string }>();
  map.set(1, { name: 'a' });
  map.set(2, { name: 'b' });
  map.set(1, { name: 'c' });
  expect([map.get(1), map.has(2), map.size]).toEqual([{ name: 'c' }, true, 2]);
  expect([...map.values()]).toEqual([{ name: 'c' }, { name: 'b' }]);
  map.delete(1);
  map.delete(3);
  expect([map.get(1), map.has(1), map.size]).toEqual([undefined, false, 1]);
});

test('an iteration may delete entries', () => {
  const map = new ReleasingMap<number, { readonly key: number }>();
  for (const key of [1, 2, 3]) map.set(key, { key });
  const visited: number[] = [];
  for (const { key } of map.values()) {
    visited.push(key);
    map.delete(key);
    map.delete(2);
  }
  expect(visited).toEqual([1, 3]);
  expect(map.size).toBe(0);
});

test('a cleared map is empty', () => {
  const map = new ReleasingMap<string, object>();
  map.set('a', {});
  map.clear();
  expect([map.size, map.has('a')]).toEqual([0, false]);
});
