import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('too-many-matches', () => {
  const routeWith = (kind: string, ...counts: readonly number[]): unknown =>
    objectOf(kind, 'v1', { rules: counts.map((count) => ({ matches: Array.from({ length: count }, () => ({})) })) });

  test.each(['HTTPRoute', 'GRPCRoute'])('%s: 128 are fine, 129 are not', (kind) => {
    expect(refusals('too-many-matches', routeWith(kind, 64, 64))).toEqual([]);
    expect(refusals('too-many-matches', routeWith(kind, 64, 64, 1))).toEqual([
      [
        'spec.rules',
        'Too many matches: the route has 129, and at most 128 are allowed. Move some rules to another route.',
      ],
    ]);
  });

  test('a rule without matches has one by default in HTTPRoute, and none in GRPCRoute', () => {
    expect(
      refusals(
        'too-many-matches',
        objectOf('HTTPRoute', 'v1', {
          rules: [...Array.from({ length: 2 }, () => ({ matches: Array.from({ length: 64 }, () => ({})) })), {}],
        }),
      ),
    ).toHaveLength(1);
    expect(
      refusals(
        'too-many-matches',
        objectOf('GRPCRoute', 'v1', {
          rules: [...Array.from({ length: 2 }, () => ({ matches: Array.from({ length: 64 }, () => ({})) })), {}],
        }),
      ),
    ).toEqual([]);
  });

  test('came with the greater number of matches in a rule', () => {
    expect(refusingBundles('too-many-matches', routeWith('HTTPRoute', 64, 65))).toEqual([
      'standard 1.2–1.7',
      'experimental 1.2–1.7',
    ]);
  });
});
