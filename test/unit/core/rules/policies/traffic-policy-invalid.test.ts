import { describe, expect, test } from '@jest/globals';
import { trafficPolicyInvalid } from '../../../../../src/core/rules/policies/traffic-policy-invalid.ts';
import { consequences, judge } from '../../../../support/rules.ts';
import { trafficPolicy } from '../../../../support/traffic-policy.ts';

describe('traffic-policy-invalid', () => {
  test.each([
    {},
    { retryConstraint: {} },
    { retryConstraint: { budget: { percent: 0, interval: '1s' }, minRetryRate: { count: 1, interval: '1ms' } } },
    { retryConstraint: { budget: { percent: 100, interval: '1h' }, minRetryRate: { count: 1_000_000 } } },
    // Another rule reports the form of durations.
    { retryConstraint: { budget: { interval: 'soon' } } },
    { sessionPersistence: {} },
    { sessionPersistence: { type: 'Cookie', cookie: { lifetimeType: 'Permanent' } } },
    { sessionPersistence: { type: 'Header', header: { name: 'x-session' } } },
    { sessionPersistence: { cookieConfig: { lifetimeType: 'Session' } } },
  ])('%j is fine', (spec) => {
    expect(judge(trafficPolicyInvalid, trafficPolicy('p', spec))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [
      { retryConstraint: { budget: { percent: 101 } } },
      'spec.retryConstraint.budget.percent',
      'Invalid percent 101: must be between 0 and 100. The policy is ignored.',
    ],
    [
      { retryConstraint: { budget: { percent: -1 } } },
      'spec.retryConstraint.budget.percent',
      'Invalid percent -1: must be between 0 and 100. The policy is ignored.',
    ],
    [
      { retryConstraint: { budget: { interval: '999ms' } } },
      'spec.retryConstraint.budget.interval',
      'Invalid interval 999ms: must be between 1s and 1h. The policy is ignored.',
    ],
    [
      { retryConstraint: { minRetryRate: { count: 0 } } },
      'spec.retryConstraint.minRetryRate.count',
      'Invalid count 0: must be between 1 and 1000000. The policy is ignored.',
    ],
    [
      { retryConstraint: { minRetryRate: { interval: '0s' } } },
      'spec.retryConstraint.minRetryRate.interval',
      'Invalid interval 0s: must be between 1ms and 1h. The policy is ignored.',
    ],
    [
      { sessionPersistence: { type: 'Cookies' } },
      'spec.sessionPersistence.type',
      'Unsupported type "Cookies". Did you mean Cookie? The policy is ignored.',
    ],
    [
      { sessionPersistence: { cookie: { lifetimeType: 'Eternal' } } },
      'spec.sessionPersistence.cookie.lifetimeType',
      'Unsupported lifetimeType "Eternal". Supported values: Session, Permanent. The policy is ignored.',
    ],
  ])('%j', (spec, path, message) => {
    const policy = trafficPolicy('p', spec);
    expect(judge(trafficPolicyInvalid, policy)).toEqual([[path, message]]);
    expect(consequences(trafficPolicyInvalid, policy)).toEqual(['Accepted Invalid object']);
  });
});
