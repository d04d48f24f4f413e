import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RetryBudgetAccount } from '../../src/proxy/upstream/retry-budget.ts';

const slots = 20;

const event = fc.record({ wait: fc.nat(3_000), type: fc.constantFrom('request' as const, 'retry' as const) });
const terms = fc.record({
  backend: fc.constant('shop/cart'),
  percent: fc.nat(100),
  interval: fc.integer({ min: 1_000, max: 20_000 }),
  minimum: fc.record({ count: fc.integer({ min: 1, max: 5 }), interval: fc.integer({ min: 1, max: 5_000 }) }),
});

interface Past {
  readonly at: number;
  readonly type: 'request' | 'retry';
}

/** The events whose slot is one of the last twenty. */
function within(past: readonly Past[], now: number, interval: number): readonly Past[] {
  const slot = interval / slots;
  return past.filter(({ at }) => Math.floor(now / slot) - Math.floor(at / slot) < slots);
}

test('a retry budget permits what a list of all events permits', () => {
  fc.assert(
    fc.property(terms, fc.array(event, { maxLength: 200 }), (budget, events) => {
      const account = new RetryBudgetAccount(budget);
      const past: Past[] = [];
      let now = 0;
      for (const { wait, type } of events) {
        now += wait;
        if (type === 'request') {
          account.addRequest(now);
          past.push({ at: now, type });
          continue;
        }
        const tries = within(past, now, budget.interval);
        const retries = tries.filter((one) => one.type === 'retry').length;
        const recent = within(past, now, budget.minimum.interval).filter((one) => one.type === 'retry').length;
        const isPermitted = (retries + 1) * 100 <= budget.percent * (tries.length + 1) || recent < budget.minimum.count;
        expect(account.takeRetry(now)).toBe(isPermitted);
        if (isPermitted) past.push({ at: now, type });
      }
    }),
  );
});
