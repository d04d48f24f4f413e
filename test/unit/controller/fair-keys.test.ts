import { expect, test } from '@jest/globals';
import { FairKeys } from '../../../src/controller/fair-keys.ts';

function taken(keys: FairKeys): readonly string[] {
  const order: string[] = [];
  for (let key = keys.take(); key !== undefined; key = keys.take()) order.push(key);
  return order;
}

function holding(...all: readonly string[]): FairKeys {
  const keys = new FairKeys((key) => key.slice(0, key.indexOf('/')));
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
