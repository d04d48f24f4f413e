import { describe, expect, test } from '@jest/globals';
import { grpcRouteWith, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rules: readonly object[]): unknown => soundRoute({}, { rules: rules.map((rule) => ({ backendRefs: [{ name: 'cart', port: 80 }], ...rule })) });

describe('match-repeated', () => {
  test.each<[readonly object[]]>([
    [[ { matches: [ { path: { value: '/cart' } } ] }, { matches: [ { path: { value: '/shop' } } ] } ]],
    [[ { matches: [ { method: 'GET' }, { method: 'PUT' } ] } ]],
    [[ { matches: [ { queryParams: [ { name: 'a', value: '1' } ] }, { queryParams: [ { name: 'A', value: '1' } ] } ] } ]],
    [[ { matches: [ { path: { type: 'Exact', value: '/a' } }, { path: { type: 'Exact', value: '/a/' } } ] } ]],
  ])('%j is fine', (value) => {
    expect(remarks('match-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [[ { matches: [ { path: { value: '/cart' } } ] }, { matches: [ { path: { type: 'PathPrefix', value: '/cart/' } } ] } ], [ 'spec.rules[1].matches[0]', 'This match is the same as rules[0].matches[0], which comes first and gets all its requests. Remove one of them, or write what tells them apart.' ]],
    [[ {}, {} ], [ 'spec.rules[1].matches[0]', 'This match is the same as rules[0].matches[0], which comes first and gets all its requests. Remove one of them, or write what tells them apart.' ]],
    [[ { matches: [ { headers: [ { name: 'A', value: '1' }, { name: 'b', value: '2' } ] }, { headers: [ { name: 'B', value: '2' }, { name: 'a', type: 'Exact', value: '1' } ] } ] } ], [ 'spec.rules[0].matches[1]', 'This match is the same as rules[0].matches[0], which comes first and gets all its requests. Remove one of them, or write what tells them apart.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('match-repeated', object(value))).toEqual(expected);
  });

  test('rules of a GRPCRoute without matches, which have no default', () => {
    const route = grpcRouteWith({}, { matches: [{ method: { service: 'shop.Cart' } }] }, {});
    expect(remarks('match-repeated', route)).toEqual([
      ['spec.rules[2].matches', 'This rule has no matches, so it takes the same requests as rules[0].matches, which comes first and gets all its requests. Remove one of them, or write what tells them apart.'],
    ]);
  });
});
