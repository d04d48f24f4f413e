import { describe, expect, test } from '@jest/globals';
import { filterRepeated } from '../../../../../src/core/rules/filters/filter-repeated.ts';
import { consequences, judge, objectOf, refusals, refusingBundles, routeWith } from '../../../../support/rules.ts';

const of = (...types: readonly string[]) => types.map((type) => ({ type }));

describe('filter-repeated', () => {
  test.each<[string, unknown]>([
    [
      'each type once',
      { filters: of('RequestHeaderModifier', 'ResponseHeaderModifier', 'URLRewrite', 'CORS', 'ExternalAuth') },
    ],
    ['mirrors and extensions', { filters: of('RequestMirror', 'RequestMirror', 'ExtensionRef', 'ExtensionRef') }],
    ['unknown types', { filters: of('Other', 'Other') }],
    ['filters without a type', { filters: [{}, {}] }],
    [
      'once a level',
      {
        filters: of('URLRewrite'),
        backendRefs: [
          { name: 'a', filters: of('URLRewrite') },
          { name: 'b', filters: of('URLRewrite') },
        ],
      },
    ],
  ])('%s is fine', (_, rule) => {
    expect(judge(filterRepeated, routeWith(rule))).toEqual([]);
  });

  test.each([
    ['RequestHeaderModifier', 'Move all headers to the first filter'],
    ['ResponseHeaderModifier', 'Move all headers to the first filter'],
    ['RequestRedirect', 'Keep one filter'],
    ['URLRewrite', 'Set hostname and path in one filter'],
    ['CORS', 'Move all settings to the first filter'],
    ['ExternalAuth', 'Keep one filter'],
  ])('%s', (type, cure) => {
    const message = (first: number) =>
      `Duplicate ${type} filter: filters[${first}] has the same type, and only one is allowed. ${cure}, and remove this one.`;
    const ofRule = routeWith({ filters: of(type, 'RequestMirror', type, type) });
    expect(judge(filterRepeated, ofRule)).toEqual([
      ['spec.rules[0].filters[2]', message(0)],
      ['spec.rules[0].filters[3]', message(0)],
    ]);
    expect(consequences(filterRepeated, ofRule)[0]).toBe('Accepted IncompatibleFilters rule');

    const ofBackend = routeWith({
      backendRefs: [{ name: 'a' }, { name: 'b', filters: of('RequestMirror', type, type) }],
    });
    expect(judge(filterRepeated, ofBackend)).toEqual([['spec.rules[0].backendRefs[1].filters[2]', message(1)]]);
    expect(consequences(filterRepeated, ofBackend)).toEqual(['Accepted IncompatibleFilters backendRef']);
  });
});

describe('bundles on filters that repeat', () => {
  const twice = (kind: string, type: string): unknown =>
    objectOf(kind, 'v1', { rules: [{ filters: [{ type }, { type }] }] });

  test.each<[string, string, readonly string[]]>([
    ['HTTPRoute', 'URLRewrite', ['standard 1.0–1.7', 'experimental 1.0–1.7']],
    ['GRPCRoute', 'RequestHeaderModifier', ['standard 1.1–1.7', 'experimental 1.1–1.7']],
    // Found out late: ExternalAuth may still repeat.
    ['HTTPRoute', 'CORS', ['standard 1.5–1.7', 'experimental 1.5–1.7']],
    ['HTTPRoute', 'ExternalAuth', []],
    ['HTTPRoute', 'RequestMirror', []],
  ])('%s: %s', (kind, type, bundles) => {
    expect(refusingBundles('filter-repeated', twice(kind, type))).toEqual(bundles);
  });

  test('look at each list of its own', () => {
    const filters = [{ type: 'URLRewrite' }];
    expect(
      refusals(
        'filter-repeated',
        objectOf('HTTPRoute', 'v1', {
          rules: [
            {
              filters,
              backendRefs: [
                { name: 'a', port: 1, filters },
                { name: 'b', port: 1, filters },
              ],
            },
          ],
        }),
      ),
    ).toEqual([]);
  });
});
