import { expect, test } from '@jest/globals';
import { FairQueue } from '../../../src/fairness/fair-queue.ts';

/** The value `a1` has the owner `a`, and `ax1` the owner `x` of the client `a`. */
function ownerOf(value: string): readonly string[] {
  return value.slice(0, -1).split('');
}

function queueOf(values: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const value of values) queue.add(value, ownerOf(value));
  return queue;
}

function takeAll(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let value = queue.take(); value !== undefined; value = queue.take()) taken.push(value);
  return taken;
}

test('clients take turns, and the values of one leave in order', () => {
  const queue = queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
  expect(queue.size).toBe(6);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(queue.size).toBe(0);
});

test('a client that comes back waits for the others once', () => {
  const queue = queueOf(['a1', 'b1', 'b2']);
  expect(queue.take()).toBe('a1');
  queue.add('a2', ['a']);
  expect(takeAll(queue)).toEqual(['b1', 'a2', 'b2']);
});

test('the client with most makes room for one with fewer', () => {
  const queue = queueOf(['a1', 'b1', 'b2', 'b3']);
  expect(queue.replace(['b'])).toBeUndefined();
  expect(queue.replace(['c'])).toBe('b1');
  queue.add('c1', ['c']);
  expect(queue.size).toBe(4);
  // Nobody would have fewer than before.
  expect(queue.replace(['a'])).toBeUndefined();
  expect(takeAll(queue)).toEqual(['a1', 'b2', 'c1', 'b3']);
});

test('nobody makes room in an empty queue', () => {
  const queue = queueOf([]);
  expect(queue.replace(['a'])).toBeUndefined();
  expect(queue.take()).toBeUndefined();
});

test('users share the turns of their client', () => {
  const queue = queueOf(['ax1', 'ax2', 'ax3', 'ay1', 'bx1', 'bx2']);
  expect(takeAll(queue)).toEqual(['ax1', 'bx1', 'ay1', 'bx2', 'ax2', 'ax3']);
  expect(queue.size).toBe(0);
});

test('the user with most makes room for another one of its client, or for another client', () => {
  const queue = queueOf(['ax1', 'ay1', 'ay2', 'ay3', 'bx1', 'bx2']);
  expect(queue.replace(['a', 'y'])).toBeUndefined();
  expect(queue.replace(['a', 'z'])).toBe('ay1');
  expect(queue.replace(['c', 'z'])).toBe('ay2');
  expect(queue.replace(['c', 'z'])).toBe('ax1');
  expect(queue.replace(['a', 'x'])).toBeUndefined();
  expect(queue.size).toBe(3);
  expect(takeAll(queue)).toEqual(['ay3', 'bx1', 'bx2']);
});

test('a client of many users makes room with its last value of one', () => {
  const queue = queueOf(['ax1', 'ay1', 'az1']);
  expect(queue.replace(['b', 'x'])).toBe('ax1');
  expect(takeAll(queue)).toEqual(['ay1', 'az1']);
});

test('an owner has only a few values that are begun and not done', () => {
  const queue = queueOf(Array.from({ length: 9 }, (_, index) => `a${index}`));
  queue.add('b1', ['b']);
  const turn = (): string => {
    const value = queue.take() ?? '';
    queue.putBack(value, ownerOf(value));
    return value;
  };
  const turns = Array.from({ length: 18 }, turn);
  // The ninth one of `a` waits until one of the others is done, and `b` has its turns meanwhile.
  expect(turns.filter((value) => value !== 'b1')).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a0']);
  expect(queue.take()).toBe('a1');
  expect(turn()).toBe('b1');
  expect(turn()).toBe('a8');
  expect(queue.size).toBe(9);
});

test('a value that is removed does not wait, and its owner has no turn', () => {
  const queue = queueOf(['ax1', 'ay1', 'bx1', 'bx2']);
  expect(queue.remove('ax1', ['a', 'x'])).toBe(true);
  expect(queue.remove('ax1', ['a', 'x'])).toBe(false);
  expect(queue.remove('bx1', ['c', 'x'])).toBe(false);
  expect(queue.remove('bx1', ['b', 'x'])).toBe(true);
  expect(queue.size).toBe(2);
  expect(takeAll(queue)).toEqual(['ay1', 'bx2']);
  expect(queue.size).toBe(0);
});

test('a value that was put back and is removed does not count as begun', () => {
  const queue = queueOf([]);
  const begun = Array.from({ length: 8 }, (_, index) => `a${index}`);
  for (const value of begun) queue.putBack(value, ['a']);
  queue.add('a8', ['a']);
  expect(queue.remove('a0', ['a'])).toBe(true);
  expect(takeAll(queue)).toEqual([...begun.slice(1), 'a8']);
});
