import { expect, test } from '@jest/globals';
import { BodyQuota } from '../../../src/webhook/body-quota.ts';

const limit = 112;

/** Takes bytes one by one, as many as it gets. */
function takeAll(quota: BodyQuota, client: string, user: string): number {
  let taken = 0;
  while (quota.take({ client, user }, 1)) taken += 1;
  return taken;
}

test('a user leaves room for another user of its client, and a client for another client', () => {
  const quota = new BodyQuota(limit);
  expect(takeAll(quota, 'a', 'mallory')).toBe(86);
  expect(takeAll(quota, 'a', 'alice')).toBeGreaterThan(4);
  expect(takeAll(quota, 'b', 'alice')).toBeGreaterThan(4);
  expect(quota.used).toBeLessThanOrEqual(limit);
});

test('a client that invents users has no more than its share', () => {
  const quota = new BodyQuota(limit);
  let taken = 0;
  for (let user = 0; user < 1_000; user += 1) taken += takeAll(quota, 'a', `user${user}`);
  expect(taken).toBeLessThanOrEqual(98);
  expect(takeAll(quota, 'b', 'alice')).toBeGreaterThan(4);
});

test('what is released can be taken again', () => {
  const quota = new BodyQuota(limit);
  const owner = { client: 'a', user: 'mallory' };
  const taken = takeAll(quota, 'a', 'mallory');
  quota.release(owner, taken);
  expect(quota.used).toBe(0);
  expect(takeAll(quota, 'a', 'mallory')).toBe(taken);
});

test('what does not fit takes nothing', () => {
  const quota = new BodyQuota(limit);
  expect(quota.take({ client: 'a', user: 'mallory' }, limit)).toBe(false);
  expect(quota.used).toBe(0);
  expect(takeAll(quota, 'a', 'mallory')).toBe(86);
});
