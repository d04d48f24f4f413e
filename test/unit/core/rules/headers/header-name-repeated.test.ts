import { describe, expect, test } from '@jest/globals';
import { remarks, routeWith } from '../../../../support/rules.ts';

const header = (name: string) => ({ name, value: 'v' });

describe('header-name-repeated', () => {
  test.each<[string, unknown]>([
    ['different names', { matches: [{ headers: [header('a'), header('b')] }] }],
    ['one name in two matches', { matches: [{ headers: [header('a')] }, { headers: [header('A')] }] }],
    ['query parameters that differ in case', { matches: [{ queryParams: [header('a'), header('A')] }] }],
    ['no names', { matches: [{ headers: [{}, {}] }] }],
    [
      'a name in set and add',
      {
        filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [header('a')], add: [header('a')] } }],
      },
    ],
  ])('%s is fine', (_, rule) => {
    expect(remarks('header-name-repeated', routeWith(rule))).toEqual([]);
  });

  test('in a match', () => {
    const route = routeWith({ matches: [{}, { headers: [header('x-a'), header('b'), header('X-A'), header('x-a')] }] });
    const message = (name: string) =>
      `Duplicate header "${name}": headers[0] names the same header (header names ignore case). This entry is ignored, so requests match without it. Remove it, or combine both values in one entry of type RegularExpression.`;
    expect(remarks('header-name-repeated', route)).toEqual([
      ['spec.rules[0].matches[1].headers[2].name', message('X-A')],
      ['spec.rules[0].matches[1].headers[3].name', message('x-a')],
    ]);
  });

  test('in a filter', () => {
    const route = routeWith({
      filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [header('a'), header('A')] } }],
    });
    expect(remarks('header-name-repeated', route)).toEqual([
      [
        'spec.rules[0].filters[0].requestHeaderModifier.set[1].name',
        'Duplicate header "A": set[0] names the same header (header names ignore case). This entry is ignored, and its value is never used. Remove it, or keep the value that you want.',
      ],
    ]);
  });

  test('among those to remove', () => {
    const route = routeWith({
      filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-a', 'b', 'X-A'] } }],
    });
    expect(remarks('header-name-repeated', route)).toEqual([
      [
        'spec.rules[0].filters[0].requestHeaderModifier.remove[2]',
        'Duplicate header "X-A": remove[0] names the same header (header names ignore case). Delete this entry, or correct the name.',
      ],
    ]);
  });
});
