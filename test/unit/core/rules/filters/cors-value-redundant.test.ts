import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('cors-value-redundant', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['https://shop.example.com', 'https://cart.example.com'] } }] }],
    [{ filters: [{ type: 'CORS', cors: { exposeHeaders: ['*'] } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('cors-value-redundant', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        filters: [
          { type: 'CORS', cors: { allowOrigins: ['https://shop.example.com', 'https://shop.example.com:443'] } },
        ],
      },
      [
        'spec.rules[0].filters[0].cors.allowOrigins[1]',
        'Duplicate value "https://shop.example.com:443": it is the same as allowOrigins[0] ("https://shop.example.com"). Remove one of them.',
      ],
    ],
    [
      { filters: [{ type: 'CORS', cors: { allowHeaders: ['x-team', 'X-Team'] } }] },
      [
        'spec.rules[0].filters[0].cors.allowHeaders[1]',
        'Duplicate value "X-Team": it is the same as allowHeaders[0] ("x-team"). Remove one of them.',
      ],
    ],
    [
      { filters: [{ type: 'CORS', cors: { exposeHeaders: ['x-team', '*'] } }] },
      [
        'spec.rules[0].filters[0].cors.exposeHeaders[1]',
        '"*" exposes every header, so the other values of exposeHeaders are ignored. Use "*" alone, or remove it.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('cors-value-redundant', object(value))).toEqual(expected);
  });
});
