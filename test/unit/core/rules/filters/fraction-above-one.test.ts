import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('fraction-above-one', () => {
  const routeWith = (requestMirror: object): unknown =>
    objectOf('HTTPRoute', 'v1', {
      rules: [
        {
          filters: [
            { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 80 }, ...requestMirror } },
          ],
        },
      ],
    });
  const path = 'spec.rules[0].filters[0].requestMirror';

  test.each([[{ numerator: 100 }], [{ numerator: 3, denominator: 3 }], [{ numerator: 0, denominator: 1 }]])(
    '%j is fine',
    (fraction) => {
      expect(refusals('fraction-above-one', routeWith({ fraction }))).toEqual([]);
    },
  );

  test.each([
    [{ numerator: 101 }, '101 of 100'],
    [{ numerator: 5, denominator: 2 }, '5 of 2'],
  ])('%j', (fraction, words) => {
    expect(refusals('fraction-above-one', routeWith({ fraction }))).toEqual([
      [
        `${path}.fraction.numerator`,
        `Invalid numerator ${words.split(' ')[0]}: must be at most the denominator ${words.split(' ').at(-1)}. Use a smaller numerator, or a greater denominator.`,
      ],
    ]);
  });

  test('looks at sampling rates', () => {
    const policy = objectOf('XTelemetryPolicy', 'v1alpha1', {
      tracing: {
        samplingRate: { numerator: 101 },
        parentBasedSampling: { samplingRate: { numerator: 2, denominator: 1 } },
      },
    });
    expect(refusals('fraction-above-one', policy).map(([at]) => at)).toEqual([
      'spec.tracing.samplingRate.numerator',
      'spec.tracing.parentBasedSampling.samplingRate.numerator',
    ]);
  });

  test('is as old as the fields', () => {
    expect(refusingBundles('fraction-above-one', routeWith({ fraction: { numerator: 101 } }))).toEqual([
      'standard 1.3–1.7',
      'experimental 1.2–1.7',
    ]);
  });
});
