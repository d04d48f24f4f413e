import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('tracing-missing', () => {
  const policyWith = (spec: object): unknown => objectOf('XTelemetryPolicy', 'v1alpha1', spec);

  test('tracing may be empty, but must be there', () => {
    expect(refusals('tracing-missing', policyWith({ tracing: {} }))).toEqual([]);
    expect(refusals('tracing-missing', policyWith({}))).toEqual([
      [
        'spec.tracing',
        'tracing is required: without it, the policy has no effect. Set tracing, for example with mode: Disabled.',
      ],
    ]);
    expect(refusingBundles('tracing-missing', policyWith({}))).toEqual(['experimental 1.7–1.7']);
  });
});
