import { expect, test } from '@jest/globals';
import { LatestFacts } from '../../../src/controller/latest-facts.ts';
import { createKernel, defineInput, write, type Write } from '../../../src/core/incremental/index.ts';
import { eventually } from '../../support/eventually.ts';

const sizes = defineInput<number>('sizes');
const names = defineInput<string>('names');
const nothing = createKernel({ indexes: [], emissions: [] }).apply([]);

/** Facts, and the transactions that the evaluation gets. It takes as long as `result` says. */
function facts(result: () => number | Promise<number>) {
  const transactions: (readonly unknown[])[] = [];
  const followers: (() => void)[] = [];
  const latest = new LatestFacts(
    {
      apply(writes, follow) {
        transactions.push(writes.map(({ value }) => value));
        follow(nothing);
        return result();
      },
    },
    () => followers.shift()?.(),
  );
  const put = (...writes: readonly Write[]): void => latest.write(writes);
  return { transactions, followers, put };
}

test('facts are written at once, and those that follow from them afterwards', () => {
  const { transactions, followers, put } = facts(() => 1);
  followers.push(() => {
    put(write(sizes, ['b'], 2));
    put(write(sizes, ['b'], 3));
  });
  put(write(sizes, ['a'], 1));
  expect(transactions).toEqual([[1], [3]]);
});

test('the latest facts about each subject are written when the transaction before them is applied', async () => {
  const applied = Promise.withResolvers<number>();
  const { transactions, put } = facts(() => applied.promise);
  for (const value of [1, 2, 3])
    put(write(sizes, ['a'], value), write(sizes, ['b'], undefined), write(names, ['a'], 'x'));
  expect(transactions).toEqual([[1, undefined, 'x']]);
  applied.resolve(50);
  await eventually(() =>
    expect(transactions).toEqual([
      [1, undefined, 'x'],
      [3, undefined, 'x'],
    ]),
  );
});
