import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('cors-wildcard-with-credentials', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['https://shop.example.com'], allowCredentials: true } }] }],
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['*'] } }] }],
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['*'], allowCredentials: false } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('cors-wildcard-with-credentials', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'CORS', cors: { allowOrigins: ['*'], allowCredentials: true } }] },
      [
        'spec.rules[0].filters[0].cors.allowOrigins[0]',
        'allowCredentials: true conflicts with allowOrigins "*": any website could act with the cookies of its visitors. List the values that you need, or set allowCredentials: false.',
      ],
    ],
    [
      {
        filters: [
          { type: 'CORS', cors: { allowOrigins: ['https://a.example'], allowHeaders: ['*'], allowCredentials: true } },
        ],
      },
      [
        'spec.rules[0].filters[0].cors.allowHeaders[0]',
        'allowCredentials: true conflicts with allowHeaders "*": browsers do not treat "*" as a wildcard in requests with credentials. List the values that you need, or set allowCredentials: false.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('cors-wildcard-with-credentials', object(value))).toEqual(expected);
  });
});
