import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ReadingTurns } from '../../../src/webhook/reading-turns.ts';

const readBytes = 64 * 1024;

/** Connections that are read while their names are in `read`. */
function connections(
  count: number,
  { isBurst = (): boolean => false, busyOwner = ['busy', ''], otherOwner = ['other', ''] } = {},
) {
  const turns = new ReadingTurns(isBurst);
  const read = new Set<string>();
  const open = (name: string): Socket => {
    read.add(name);
    const handle = { readStart: () => read.add(name), readStop: () => read.delete(name) };
    return { _handle: handle } as unknown as Socket;
  };
  const busy = Array.from({ length: count }, (_, index) => open(`busy${index}`));
  // They end the turn, so each of them is stopped.
  for (const socket of busy) turns.take(8 * readBytes, socket, busyOwner);
  const other = open('other');
  turns.take(readBytes, other, otherOwner);
  return { turns, read, busy };
}

test('each turn reads as many connections as it has room for, and clients take turns', async () => {
  const { read } = connections(20);
  expect(read.size).toBe(0);
  await nextTurn();
  expect([...read]).toEqual(['busy0', 'other', ...[1, 2, 3, 4, 5, 6].map((index) => `busy${index}`)]);
  await nextTurn();
  expect(read.size).toBe(16);
  await nextTurn();
  expect(read.size).toBe(21);
});

test('users of one client take turns', async () => {
  const { read } = connections(20, { busyOwner: ['client', 'mallory'], otherOwner: ['client', 'alice'] });
  await nextTurn();
  expect([...read].slice(0, 3)).toEqual(['busy0', 'other', 'busy1']);
});

test('one connection is read while connections wait to be accepted', async () => {
  const { read } = connections(3, { isBurst: () => true });
  await nextTurn();
  expect([...read]).toEqual(['busy0']);
  await nextTurn();
  expect([...read]).toEqual(['busy0', 'other']);
});

test('connections that have ended take no room, and are not read', async () => {
  const { turns, read, busy } = connections(12);
  for (const socket of busy.slice(0, 5)) turns.end(socket);
  await nextTurn();
  expect([...read]).toEqual(['busy5', 'other', ...[6, 7, 8, 9, 10, 11].map((index) => `busy${index}`)]);
});

test('connections that have ended are not kept', () => {
  const { turns, busy } = connections(12);
  expect(turns.size).toBe(13);
  for (const socket of busy) turns.end(socket);
  for (const socket of busy) turns.end(socket);
  expect(turns.size).toBe(1);
});
