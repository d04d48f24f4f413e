import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('hostname-repeated', () => {
  test.each<[object]>([[{ hostnames: ['shop.example.com', 'cart.example.com'] }], [{ hostnames: [] }]])(
    '%j is fine',
    (value) => {
      expect(remarks('hostname-repeated', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { hostnames: ['shop.example.com', 'shop.example.com'] },
      [
        'spec.hostnames[1]',
        'Duplicate hostname "shop.example.com": hostnames[0] is the same. Remove one of them, or correct the name.',
      ],
    ],
    [
      { hostnames: ['a.example', 'b.example', 'a.example', 'a.example'] },
      [
        'spec.hostnames[2]',
        'Duplicate hostname "a.example": hostnames[0] is the same. Remove one of them, or correct the name.',
      ],
      [
        'spec.hostnames[3]',
        'Duplicate hostname "a.example": hostnames[0] is the same. Remove one of them, or correct the name.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('hostname-repeated', object(value))).toEqual(expected);
  });
});
