import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { digestOf } from '../../../src/channel/digest.ts';

test('equal content has an equal digest, whatever the order of properties', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).toReversed());
      expect(digestOf(reversed)).toBe(digestOf(value));
      expect(digestOf(JSON.parse(JSON.stringify(value)))).toBe(digestOf(value));
    }),
  );
});

test('different content has a different digest', () => {
  const values = [
    {},
    [],
    null,
    '',
    0,
    false,
    'null',
    { a: 1 },
    { a: '1' },
    { a: [1] },
    { a: { b: 1 } },
    { b: 1 },
    { a: 1, b: 1 },
    [1, 2],
    [2, 1],
    [[1], 2],
    ['1,2'],
    { 'a":1,"b': 1 },
    { a: null },
    [null],
  ];
  expect(new Set(values.map(digestOf)).size).toBe(values.length);
});

test('undefined counts as absent, as it would after a journey as JSON', () => {
  expect(digestOf({ a: undefined, b: 1 })).toBe(digestOf({ b: 1 }));
});

test('a digest is the same in every version, because data planes of another version hold it', () => {
  const route = {
    rules: [{ weight: 1, name: 'é', off: undefined }, {}, []],
    key: 'route/HTTPRoute/shop/cart',
    10: null,
    9: true,
  };
  expect(digestOf(route)).toBe('mBv_IaE-obHz2LzpI6RzzxbFtrsDSizCEGnthNFEzfs');
});
