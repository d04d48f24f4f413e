import { beforeEach, expect, test } from '@jest/globals';
import { MemoryReturn } from '../../../../src/cli/process/memory-return.ts';
import type { Use } from '../../../../src/cli/process/memory-return.ts';

const mebibyte = 2 ** 20;
let changes: boolean[];
let collections: number;
let memory: MemoryReturn;

beforeEach(() => {
  changes = [];
  collections = 0;
  memory = new MemoryReturn(100 * mebibyte, {
    saveMemory: (isOn) => changes.push(isOn),
    collect() {
      collections += 1;
    },
  });
});

function check(mebibytes: number, use: Partial<Use> = {}): void {
  memory.check({ memory: mebibytes * mebibyte, buffered: 0, utilization: 0.01, ...use });
}

test('V8 saves memory after a peak, until the memory is returned', () => {
  check(100);
  check(160);
  expect(changes).toEqual([]);
  check(400);
  check(380);
  expect(changes).toEqual([true]);
  check(150);
  check(150);
  expect(changes).toEqual([true, false]);
});

test('memory that a process took before the first check counts as a peak', () => {
  check(200);
  expect(changes).toEqual([true]);
  expect(memory.isSaving).toBe(true);
});

test('the garbage of the start is collected once, after some checks without load', () => {
  check(110, { utilization: 0.9 });
  for (let count = 0; count < 3; count += 1) check(110);
  expect(collections).toBe(0);
  check(110);
  expect(collections).toBe(1);
  for (let count = 0; count < 10; count += 1) check(110);
  expect(collections).toBe(1);
});

test('the garbage of the start is not collected while the process serves requests, because that would delay them', () => {
  for (let count = 0; count < 10; count += 1) check(110, { utilization: 0.05 });
  expect(collections).toBe(0);
  for (let count = 0; count < 4; count += 1) check(110, { utilization: 0.01 });
  expect(collections).toBe(1);
});

test('the garbage of the start is not collected if requests arrive again shortly before', () => {
  for (let count = 0; count < 3; count += 1) check(110);
  expect(memory.pause).toBe(250);
  check(110, { utilization: 0.05 });
  expect(memory.pause).toBe(5_000);
  check(110, { utilization: 0.05 });
  check(110);
  expect(memory.pause).toBe(250);
  expect(collections).toBe(0);
  check(110);
  expect(memory.pause).toBe(5_000);
  expect(collections).toBe(1);
});

test('the garbage of the start is not collected while V8 saves memory', () => {
  for (let count = 0; count < 10; count += 1) check(300);
  expect(collections).toBe(0);
  for (let count = 0; count < 4; count += 1) check(110);
  expect(collections).toBe(1);
});

test.each<readonly [string, Partial<Use>]>([
  ['bytes wait for slow readers', { buffered: 50 * mebibyte }],
  ['the event loop is busy', { utilization: 0.7 }],
])('V8 does not save memory while %s', (_name, use) => {
  check(100);
  check(400, use);
  expect(changes).toEqual([]);
  check(400);
  expect(changes).toEqual([true]);
  check(400, use);
  expect(changes).toEqual([true, false]);
});

test('memory that V8 cannot return within a minute is the new normal', () => {
  check(100);
  const checks = 60_000 / 250;
  for (let count = 0; count < checks; count += 1) check(300);
  expect(changes).toEqual([true]);
  check(300);
  expect(changes).toEqual([true, false]);
  check(370);
  expect(changes).toEqual([true, false, true]);
});

test('the load is checked more often while V8 saves memory, because it must stop when the load is back', () => {
  check(100);
  expect(memory.pause).toBe(5_000);
  check(300);
  expect(memory.pause).toBe(250);
  check(300, { utilization: 0.9 });
  expect(memory.pause).toBe(5_000);
  expect(changes).toEqual([true, false]);
});

test('a peak that lasts does not become the new normal', () => {
  check(100);
  for (let count = 0; count < 100; count += 1) check(400, { buffered: 50 * mebibyte });
  check(400);
  expect(changes).toEqual([true]);
});

/** Counts the checks that save memory in an hour. `use`: the use at a time in milliseconds. */
function savingChecksInAnHour(use: (time: number) => Use): number {
  let count = 0;
  for (let time = 0; time < 3_600_000; time += memory.pause) {
    memory.check(use(time));
    if (memory.isSaving) count += 1;
  }
  return count;
}

test('interruptions by load do not extend the time in which V8 saves memory', () => {
  let nextBusy = 0;
  const count = savingChecksInAnHour((time) => {
    const isBusy = time >= nextBusy;
    if (isBusy) nextBusy += 15_000;
    return { memory: 300 * mebibyte, buffered: 0, utilization: isBusy ? 0.9 : 0.1 };
  });
  expect(count).toBe(60_000 / 250);
  expect(changes.length).toBeLessThanOrEqual(20);
});

test('memory that moves around the limit of what is worth returning does not start a new time', () => {
  let isAbove = false;
  const count = savingChecksInAnHour(() => {
    isAbove = !isAbove;
    return { memory: (isAbove ? 170 : 160) * mebibyte, buffered: 0, utilization: 0.1 };
  });
  expect(count).toBe(60_000 / 250);
});

test('V8 saves memory for the full time after each peak whose memory was returned', () => {
  const checks = 60_000 / 250;
  for (let peak = 0; peak < 3; peak += 1) {
    for (let count = 1; count < checks; count += 1) check(300);
    expect(memory.isSaving).toBe(true);
    check(110);
    expect(memory.isSaving).toBe(false);
  }
  expect(changes).toHaveLength(6);
});

test('a load at the end of the time does not become the new normal', () => {
  check(300);
  for (let count = 0; count < 60_000 / 250; count += 1) {
    check(400, { utilization: 0.9 });
    check(300);
  }
  check(300);
  expect(memory.isSaving).toBe(false);
  check(370);
  expect(memory.isSaving).toBe(true);
});
