import { describe, expect, test } from '@jest/globals';
import { objectOf, refusingBundles, remarks, routeWith } from '../../../../support/rules.ts';

describe('rule-name-repeated', () => {
  test('different and absent names are fine', () => {
    expect(
      remarks(
        'rule-name-repeated',
        routeWith({ name: 'a' }, {}, { name: 'b' }, {}, { name: 'A' }, { name: 1 }, { name: 2 }),
      ),
    ).toEqual([]);
  });

  test('a name given again', () => {
    const route = routeWith({ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'a' });
    const message = 'Duplicate rule name "a": spec.rules[0] has the same name. Use another name, or remove name.';
    expect(remarks('rule-name-repeated', route)).toEqual([
      ['spec.rules[2].name', message],
      ['spec.rules[3].name', message],
    ]);
  });
});

describe('bundles on rules of one name', () => {
  test.each<[string, string, readonly string[]]>([
    ['HTTPRoute', 'v1', ['standard 1.7–1.7', 'experimental 1.2–1.7']],
    ['GRPCRoute', 'v1', ['standard 1.7–1.7', 'experimental 1.2–1.7']],
    ['TCPRoute', 'v1alpha2', ['experimental 1.2–1.7']],
    ['UDPRoute', 'v1alpha2', ['experimental 1.2–1.7']],
    ['TCPRoute', 'v1', []],
    ['TLSRoute', 'v1alpha2', ['experimental 1.2–1.7']],
    ['TLSRoute', 'v1alpha3', ['experimental 1.4–1.4']],
    ['TLSRoute', 'v1', []],
  ])('%s %s', (kind, version, bundles) => {
    expect(
      refusingBundles('rule-name-repeated', objectOf(kind, version, { rules: [{ name: 'a' }, { name: 'a' }, {}] })),
    ).toEqual(bundles);
    expect(
      refusingBundles('rule-name-repeated', objectOf(kind, version, { rules: [{ name: 'a' }, {}, { name: 'b' }] })),
    ).toEqual([]);
  });
});
