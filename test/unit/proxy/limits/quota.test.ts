import { expect, test } from '@jest/globals';
import { SharedQuota } from '../../../../src/fairness/shared-quota.ts';
import { KeyedQuota } from '../../../../src/proxy/limits/quota.ts';

function createQuota(limit: number) {
  const reached: string[] = [];
  const quota = new SharedQuota(limit, (which) => reached.push(which));
  const takeAll = (client: string): number => {
    let count = 0;
    while (quota.take(client)) count += 1;
    return count;
  };
  return { quota, reached, takeAll };
}

test('one client alone gets seven eighths, and others what is left by the same rule', () => {
  const { takeAll, reached } = createQuota(8_192);
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map(takeAll)).toEqual([7_168, 478, 32, 8, 8, 8]);
  expect(reached).toEqual(['share', 'share', 'share', 'share', 'share', 'share']);
});

test('clients that take their shares one after the other leave room for those with little', () => {
  const { quota, takeAll } = createQuota(65_536);
  for (let client = 0; client < 100; client += 1) takeAll(String(client));
  expect([takeAll('other') > 8, quota.used < 65_536]).toEqual([true, true]);
});

test('clients that come at the same time get the same', () => {
  const { quota } = createQuota(8_192);
  const counts = { a: 0, b: 0, c: 0 };
  for (let turn = 0; turn < 8_192; turn += 1)
    for (const client of ['a', 'b', 'c'] as const) if (quota.take(client)) counts[client] += 1;
  // Fourteen parts of 43 each of what is not reserved.
  expect(counts).toEqual({ a: 2_501, b: 2_501, c: 2_500 });
});

test('what is released is free again', () => {
  const { quota } = createQuota(1);
  expect([quota.take('a'), quota.take('b')]).toEqual([true, false]);
  quota.release('a');
  expect([quota.used, quota.take('b'), quota.used]).toEqual([0, true, 1]);
});

test('a client that exceeds the quota holds what it could not acquire', () => {
  const { quota } = createQuota(2);
  quota.take('a');
  quota.take('a');
  expect([quota.isExceededBy('a'), quota.take('b')]).toEqual([false, false]);
  quota.exceed('b');
  expect([quota.heldBy('b'), quota.used, quota.isExceededBy('b'), quota.heldBy('c')]).toEqual([1, 3, true, 0]);
  quota.release('a');
  expect([quota.isExceededBy('b'), quota.heldBy('a')]).toEqual([false, 1]);
});

test('a quota per key counts each key alone', () => {
  let reached = 0;
  const quota = new KeyedQuota(1, () => (reached += 1));
  expect([quota.take('a'), quota.take('b'), reached, quota.take('a'), reached]).toEqual([true, true, 0, false, 1]);
  quota.release('a');
  expect([quota.take('a'), quota.take('b'), reached]).toEqual([true, false, 2]);
});
