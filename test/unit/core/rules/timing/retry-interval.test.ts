import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('retry-interval', () => {
  const policyWith = (retryConstraint: object): unknown =>
    objectOf('XBackendTrafficPolicy', 'v1alpha1', { retryConstraint });
  const budget = (interval: string): unknown => policyWith({ budget: { interval } });
  const rate = (interval: string): unknown => policyWith({ minRetryRate: { interval } });

  test.each([[budget('1s')], [budget('1h')], [rate('1ms')], [rate('60m')], [rate('1000ms')], [policyWith({})]])(
    '%j is fine',
    (json) => {
      expect(refusals('retry-interval', json)).toEqual([]);
    },
  );

  test.each<[unknown, string, string]>([
    [budget('999ms'), 'spec.retryConstraint.budget.interval', 'Invalid interval 999ms: must be between 1s and 1h.'],
    [budget('1h1ms'), 'spec.retryConstraint.budget.interval', 'Invalid interval 1h1ms: must be between 1s and 1h.'],
    [rate('0s'), 'spec.retryConstraint.minRetryRate.interval', 'Invalid interval 0s: must be between 1ms and 1h.'],
    [rate('61m'), 'spec.retryConstraint.minRetryRate.interval', 'Invalid interval 61m: must be between 1ms and 1h.'],
  ])('%j', (json, path, message) => {
    expect(refusals('retry-interval', json)).toEqual([[path, message]]);
  });

  test('is as old as the kind', () => {
    expect(refusingBundles('retry-interval', rate('0s'))).toEqual(['experimental 1.3–1.7']);
  });
});
