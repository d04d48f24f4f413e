import { describe, expect, test } from '@jest/globals';
import type { RetryBudget } from '../../../../src/core/routing/config.ts';
import { RetryBudgetAccount, RetryBudgets, RollingCount } from '../../../../src/proxy/upstream/retry-budget.ts';

const terms: RetryBudget = {
  backend: 'shop/cart',
  percent: 20,
  interval: 10_000,
  minimum: { count: 1, interval: 1_000 },
};

function requests(account: RetryBudgetAccount, count: number, now: number): void {
  for (let index = 0; index < count; index += 1) account.addRequest(now);
}

/** The number of retries that the account permits at once. */
function permitted(account: RetryBudgetAccount, now: number): number {
  let count = 0;
  while (count < 10_000 && account.takeRetry(now)) count += 1;
  return count;
}

describe('a rolling count', () => {
  test('forgets events after the interval, not before 19 twentieths of it', () => {
    const count = new RollingCount(1_000);
    count.add(0);
    count.add(500);
    expect(count.total(949)).toBe(2);
    expect(count.total(1_000)).toBe(1);
    expect(count.total(1_449)).toBe(1);
    expect(count.total(1_500)).toBe(0);
    expect(count.total(1_000_000)).toBe(0);
  });

  test('starts at any time', () => {
    const count = new RollingCount(1_000);
    count.add(123_456_789);
    expect(count.total(123_456_789)).toBe(1);
  });
});

describe('a retry budget', () => {
  test('the example of the specification: 800 requests and 200 retries are 20 % of 1000', () => {
    const account = new RetryBudgetAccount(terms);
    requests(account, 800, 5_000);
    expect(permitted(account, 5_000)).toBe(200);
  });

  test('rolls with the interval', () => {
    const account = new RetryBudgetAccount(terms);
    requests(account, 80, 0);
    expect(permitted(account, 0)).toBe(20);
    requests(account, 40, 5_000);
    // 40 more requests permit 10 more retries.
    expect(permitted(account, 5_000)).toBe(10);
    // The first 100 are forgotten: 50 remain, with 10 retries. Only the minimum rate is left.
    expect(permitted(account, 10_000)).toBe(1);
    expect(permitted(account, 15_000)).toBe(1);
  });

  test.each([
    [0, 0],
    [50, 100],
    [100, 10_000],
  ])('%i percent of 100 requests', (percent, retries) => {
    const account = new RetryBudgetAccount({ ...terms, percent });
    requests(account, 100, 0);
    // The minimum rate permits one retry in any case.
    expect(permitted(account, 0)).toBe(Math.max(retries, 1));
  });

  test('permits the minimum rate without any traffic', () => {
    const account = new RetryBudgetAccount({ ...terms, minimum: { count: 3, interval: 2_000 } });
    expect(permitted(account, 0)).toBe(3);
    expect(permitted(account, 1_000)).toBe(0);
    expect(permitted(account, 2_000)).toBe(3);
  });
});

describe('the budgets of a data plane', () => {
  test('ports of a backend share an account, and changed terms replace it', () => {
    const budgets = new RetryBudgets();
    const account = budgets.hold(terms);
    expect(budgets.hold({ ...terms })).toBe(account);
    expect(budgets.hold({ ...terms, backend: 'shop/stock' })).not.toBe(account);
    const changed = budgets.hold({ ...terms, percent: 30 });
    expect(changed).not.toBe(account);
    budgets.release(account);
    budgets.release(account);
    expect(budgets.hold({ ...terms, percent: 30 })).toBe(changed);
  });

  test('an account ends with its last user', () => {
    const budgets = new RetryBudgets();
    const account = budgets.hold(terms);
    budgets.release(account);
    budgets.release(account);
    expect(budgets.hold(terms)).not.toBe(account);
  });
});
