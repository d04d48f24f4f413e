import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('backend-repeated', () => {
  test.each<[object]>([
    [
      {
        backendRefs: [
          { name: 'cart', port: 80, weight: 9 },
          { name: 'cart-next', port: 80, weight: 1 },
        ],
      },
    ],
    [
      {
        backendRefs: [
          { name: 'cart', port: 80 },
          { name: 'cart', port: 81 },
        ],
      },
    ],
    [
      {
        backendRefs: [
          { name: 'cart', port: 80 },
          { name: 'cart', port: 80, namespace: 'team' },
        ],
      },
    ],
    [
      {
        backendRefs: [
          { name: 'cart', port: 80 },
          {
            name: 'cart',
            port: 80,
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-a'] } }],
          },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('backend-repeated', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        backendRefs: [
          { name: 'cart', port: 80, weight: 9 },
          { name: 'cart', port: 80, weight: 1 },
        ],
      },
      [
        'spec.rules[0].backendRefs[1]',
        'Duplicate backendRef: backendRefs[0] also names "cart", so their weights add up. Remove one of them, or correct the name.',
      ],
    ],
    [
      {
        backendRefs: [
          { name: 'cart', port: 80 },
          { name: 'cart', port: 80, namespace: 'shop' },
        ],
      },
      [
        'spec.rules[0].backendRefs[1]',
        'Duplicate backendRef: backendRefs[0] also names "cart", so their weights add up. Remove one of them, or correct the name.',
      ],
    ],
    [
      {
        backendRefs: [
          { name: 'cart', port: 80 },
          { name: 'cart', port: 80, group: '', kind: 'Service' },
        ],
      },
      [
        'spec.rules[0].backendRefs[1]',
        'Duplicate backendRef: backendRefs[0] also names "cart", so their weights add up. Remove one of them, or correct the name.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-repeated', object(value))).toEqual(expected);
  });
});
