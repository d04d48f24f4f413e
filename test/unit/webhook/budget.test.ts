import { describe, expect, test } from '@jest/globals';
import { remainingBudget } from '../../../src/webhook/budget.ts';

describe('remainingBudget', () => {
  test.each([
    ['5s', 0, 5000],
    ['5s', 1200, 3800],
    ['1s', 1200, 0],
    ['30s', 0, 30_000],
    ['999s', 0, 30_000],
    [undefined, 100, 9900],
    ['', 0, 10_000],
    ['1m', 0, 10_000],
    ['-5s', 0, 10_000],
    [['5s', '6s'], 0, 10_000],
  ])('timeout=%j after %d ms leaves %d ms', (timeout, elapsed, left) =>
    expect(remainingBudget(timeout, elapsed)).toBe(left),
  );
});
