import { describe, expect, test } from '@jest/globals';
import { grpcRouteWith, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rules: readonly object[]): unknown =>
  soundRoute({}, { rules: rules.map((rule) => ({ backendRefs: [{ name: 'cart', port: 80 }], ...rule })) });

describe('match-repeated', () => {
  test.each<[readonly object[]]>([
    [[{ matches: [{ path: { value: '/cart' } }] }, { matches: [{ path: { value: '/shop' } }] }]],
    [[{ matches: [{ method: 'GET' }, { method: 'PUT' }] }]],
    [[{ matches: [{ queryParams: [{ name: 'a', value: '1' }] }, { queryParams: [{ name: 'A', value: '1' }] }] }]],
    [[{ matches: [{ path: { type: 'Exact', value: '/a' } }, { path: { type: 'Exact', value: '/a/' } }] }]],
    [[{ matches: [{ path: { value: '/abc' } }, { path: { value: '/%2561bc' } }] }]],
    [
      [
        {
          matches: [
            { path: { type: 'RegularExpression', value: '/abc' } },
            { path: { type: 'RegularExpression', value: '/%61bc' } },
          ],
        },
      ],
    ],
  ])('%j is fine', (value) => {
    expect(remarks('match-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ matches: [{ path: { value: '/cart' } }] }, { matches: [{ path: { type: 'PathPrefix', value: '/cart/' } }] }],
      [
        'spec.rules[1].matches[0]',
        'Duplicate match: it is equal to spec.rules[0].matches[0], which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ],
    [
      [{}, {}],
      [
        'spec.rules[1].matches[0]',
        'Duplicate match: it is equal to spec.rules[0].matches[0], which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ],
    [
      [
        {
          matches: [
            {
              headers: [
                { name: 'A', value: '1' },
                { name: 'b', value: '2' },
              ],
            },
            {
              headers: [
                { name: 'B', value: '2' },
                { name: 'a', type: 'Exact', value: '1' },
              ],
            },
          ],
        },
      ],
      [
        'spec.rules[0].matches[1]',
        'Duplicate match: it is equal to spec.rules[0].matches[0], which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ],
    // Requests are compared in one spelling of the path.
    [
      [{ matches: [{ path: { value: '/abc' } }] }, { matches: [{ path: { value: '/%61bc' } }] }],
      [
        'spec.rules[1].matches[0]',
        'Duplicate match: it is equal to spec.rules[0].matches[0], which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ],
    // Only the first of equal header names counts.
    [
      [
        {
          matches: [
            { headers: [{ name: 'A', value: '1' }] },
            {
              headers: [
                { name: 'A', value: '1' },
                { name: 'a', value: '2' },
              ],
            },
          ],
        },
      ],
      [
        'spec.rules[0].matches[1]',
        'Duplicate match: it is equal to spec.rules[0].matches[0], which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('match-repeated', object(value))).toEqual(expected);
  });

  test('calls of a GRPCRoute, by the requests that they stand for', () => {
    const route = grpcRouteWith({
      matches: [
        { method: { method: 'Add' } },
        { method: { type: 'RegularExpression', method: 'Add' } },
        { method: { service: 'shop.Cart', method: 'Add' } },
      ],
    });
    expect(remarks('match-repeated', route).map(([path]) => path)).toEqual(['spec.rules[0].matches[1]']);
  });

  test('a call without service and method matches nothing, so it is no duplicate of a rule without matches', () => {
    expect(
      remarks('match-repeated', grpcRouteWith({ matches: [{ method: {} }, { method: { service: '' } }] }, {})),
    ).toEqual([]);
  });

  test('rules of a GRPCRoute without matches, which have no default', () => {
    const route = grpcRouteWith({}, { matches: [{ method: { service: 'shop.Cart' } }] }, {});
    expect(remarks('match-repeated', route)).toEqual([
      [
        'spec.rules[2].matches',
        'This rule has no matches, so it is a duplicate of spec.rules[0].matches, which comes first and gets all requests. Remove one of them, or make them different.',
      ],
    ]);
  });
});
