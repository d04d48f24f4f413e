import { expect, test } from '@jest/globals';
import { WorkQueue } from '../../../src/controller/work-queue.ts';

function taken(keys: WorkQueue): readonly string[] {
  const order: string[] = [];
  for (let key = keys.take(); key !== undefined; key = keys.take()) order.push(key);
  return order;
}

function holding(...all: readonly string[]): WorkQueue {
  const keys = new WorkQueue((key) => key.slice(0, key.indexOf('/')));
  for (const key of all) keys.add(key);
  return keys;
}

test('namespaces take turns, and the keys of each leave once, in the order of their arrival', () => {
  const keys = holding('busy/1', 'busy/2', 'busy/3', 'other/1', 'busy/1');
  expect(taken(keys)).toEqual(['busy/1', 'other/1', 'busy/2', 'busy/3']);
  expect(keys.isEmpty).toBe(true);
});

test('a namespace whose key was taken goes behind the others', () => {
  const keys = holding('busy/1', 'other/1');
  expect(keys.take()).toBe('busy/1');
  keys.add('busy/2');
  expect(taken(keys)).toEqual(['other/1', 'busy/2']);
  keys.add('busy/3');
  keys.clear();
  expect(keys.take()).toBeUndefined();
});

test('a key that is added while it is reconciled waits again when that is done, once', () => {
  const keys = holding('a/1');
  expect(keys.take()).toBe('a/1');
  keys.add('a/1');
  keys.add('a/1');
  expect(keys.isEmpty).toBe(true);
  expect(keys.take()).toBeUndefined();
  keys.done('a/1');
  expect(taken(keys)).toEqual(['a/1']);
  keys.done('a/1');
  expect(keys.take()).toBeUndefined();
});

test('a key that is reconciled does not wait again after everything was removed', () => {
  const keys = holding('a/1', 'a/2');
  expect(keys.take()).toBe('a/1');
  keys.add('a/1');
  keys.clear();
  keys.done('a/1');
  expect(keys.isEmpty).toBe(true);
  keys.add('a/1');
  expect(taken(keys)).toEqual(['a/1']);
});
