import { describe, expect, test } from '@jest/globals';
import { SharedQuota } from '../../../../src/fairness/shared-quota.ts';
import { clearThread, createSharedTallies, talliesOf } from '../../../../src/proxy/limits/shared-tally.ts';

function createThreads() {
  const shared = createSharedTallies(['requests', 'tunnels'], 2, 7);
  return { shared, one: talliesOf(shared, 0), two: talliesOf(shared, 1) };
}

describe('a tally of several threads', () => {
  test('sums what all of them hold, by key and in total', () => {
    const { one, two } = createThreads();
    const [first, second] = [one('requests'), two('requests')];
    first.add('192.0.2.1', 2);
    second.add('192.0.2.1', 3);
    second.add('192.0.2.2', 1);
    expect([first.of('192.0.2.1'), second.of('192.0.2.1'), first.of('192.0.2.2'), first.total]).toEqual([5, 5, 1, 6]);
    second.add('192.0.2.1', -3);
    expect([first.of('192.0.2.1'), first.total, second.total]).toEqual([2, 3, 3]);
  });

  test('is apart from tallies of other names', () => {
    const { one, two } = createThreads();
    one('requests').add('a', 1);
    expect([two('tunnels').total, two('tunnels').of('a'), two('requests').of('a')]).toEqual([0, 0, 1]);
  });

  test('of an unknown name counts for its thread alone', () => {
    const { one, two } = createThreads();
    const tally = one('other');
    tally.add('a', 1);
    expect([tally.total, one('other').total, two('other').total]).toEqual([1, 0, 0]);
  });

  test('loses what an ended thread held, and nothing else', () => {
    const { shared, one, two } = createThreads();
    one('requests').add('a', 1);
    two('requests').add('a', 4);
    two('tunnels').add('b', 1);
    clearThread(shared, 1);
    expect([one('requests').of('a'), one('requests').total, one('tunnels').total]).toEqual([1, 1, 0]);
  });

  test('keeps many keys apart', () => {
    const { one, two } = createThreads();
    const [writer, reader] = [one('requests'), two('requests')];
    const keys = Array.from({ length: 200 }, (_, index) => `2001:db8::${index.toString(16)}`);
    for (const [index, key] of keys.entries()) writer.add(key, index + 1);
    const right = keys.filter((key, index) => reader.of(key) === index + 1);
    // Two keys share an amount once in 65,536 pairs; there are 19,900.
    expect(right.length).toBeGreaterThan(190);
    for (const [index, key] of keys.entries()) writer.add(key, -index - 1);
    expect([reader.total, ...keys.map((key) => reader.of(key))]).toEqual(Array.from({ length: 201 }, () => 0));
  });
});

test('a quota applies to all threads together', () => {
  const { one, two } = createThreads();
  const reached: string[] = [];
  const [first, second] = [one, two].map(
    (tally) => new SharedQuota(16, (which) => reached.push(which), tally('requests')),
  );
  let taken = 0;
  while (first?.take('a') === true) taken += 1;
  expect([taken, first?.used, second?.used]).toEqual([14, 14, 14]);
  expect([second?.take('a'), second?.take('b'), second?.take('c'), first?.take('d')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(reached).toEqual(['share', 'share', 'all']);
});
