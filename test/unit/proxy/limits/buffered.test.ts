import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { Buffered, standalone, WatchedInput } from '../../../../src/proxy/limits/buffered.ts';
import { SharedQuota } from '../../../../src/fairness/shared-quota.ts';

const kibibyte = 1024;

function createQuota(limit = 1_024 * kibibyte) {
  const reached: string[] = [];
  return { quota: new SharedQuota(limit, (which) => reached.push(which)), reached };
}

test('a quota gives an amount whole or not at all', () => {
  const { quota, reached } = createQuota(800);
  expect([quota.take('a', 701), quota.take('a', 700), quota.used]).toEqual([false, true, 700]);
  expect([quota.hasRoom('a', 1), quota.hasRoom('b', 1), quota.take('b', 48), quota.take('b', 47)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
  quota.release('a', 700);
  expect([quota.used, reached]).toEqual([47, ['share', 'share', 'share']]);
});

test('what waits is charged with what it costs to keep its pieces, and given back as it leaves', () => {
  const { quota } = createQuota();
  const buffered = new Buffered(quota, 'a');
  const used = (waiting: number, piece?: number): number => {
    expect(buffered.update(waiting, piece)).toBe(true);
    return quota.used;
  };
  expect([used(0), used(0, 5_000)]).toEqual([0, 0]);
  expect([used(1, 1), used(2, 1), used(3, 1), used(4, 1)]).toEqual([513, 1_026, 1_539, 2_052]);
  // Half of them have left, and then another one comes.
  expect([used(2), used(3, 1)]).toEqual([1_026, 1_539]);
  // At 64 KiB the sender is paused, and sockets hold as much again.
  expect(used(64 * kibibyte, 64 * kibibyte - 3)).toBe(128 * kibibyte + 4 * 512);
  buffered.close();
  expect([quota.used, used(0)]).toEqual([0, 0]);
});

test('where there is no room, nothing more is charged', () => {
  const { quota, reached } = createQuota(16 * kibibyte);
  const buffered = new Buffered(quota, 'a');
  expect([buffered.update(10_000, 10_000), buffered.update(20_000, 10_000), quota.used]).toEqual([true, false, 10_512]);
  expect(reached).toEqual(['all']);
  buffered.close();
  expect(quota.used).toBe(0);
});

test('what comes for a stream that nobody reads is charged, and an overflow is told once', async () => {
  const { quota } = createQuota(32 * kibibyte);
  const stream = new Readable({ read: () => undefined });
  let overflows = 0;
  const watched = new WatchedInput(stream, new Buffered(quota, 'a'), () => (overflows += 1));
  stream.push(Buffer.alloc(10_000));
  expect(quota.used).toBe(10_512);
  stream.on('data', () => watched.taken());
  await new Promise(setImmediate);
  stream.push(Buffer.alloc(10_000));
  await new Promise(setImmediate);
  expect(quota.used).toBe(0);
  stream.pause();
  for (let count = 0; count < 10; count += 1) stream.push(Buffer.alloc(10_000));
  expect([overflows, quota.used]).toEqual([0, 0]);
  await new Promise(setImmediate);
  expect([overflows, quota.used]).toEqual([1, 0]);
});

test('a small piece does not keep the read of which it is a part', () => {
  const read = Buffer.alloc(3_000, 'abc');
  expect(standalone(read)).toBe(read);
  const piece = standalone(read.subarray(3, 6));
  expect([piece.toString(), piece.buffer.byteLength]).toEqual(['abc', 3]);
});
