import { describe, expect, test } from '@jest/globals';
import { deepEqual } from '../../../../src/core/incremental/equal.ts';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe('deepEqual', () => {
  test.each([
    [1, 1],
    ['', ''],
    [null, null],
    [undefined, undefined],
    [Number.NaN, Number.NaN],
    [[], []],
    [{}, {}],
    [{}, Object.create(null) as unknown],
    [
      { a: [1, { b: null }], c: 'x' },
      { a: [1, { b: null }], c: 'x' },
    ],
    [JSON.parse('{"__proto__":{"a":1}}') as unknown, JSON.parse('{"__proto__":{"a":1}}') as unknown],
    [new Map([['a', [1]]]), new Map([['a', [1]]])],
    [new Set(['a']), new Set(['a'])],
    [nested(100), nested(100)],
  ])('%j and %j are equal', (left, right) => {
    expect(deepEqual(left, right)).toBe(true);
  });

  test.each([
    [1, 2],
    [1, '1'],
    [0, null],
    [null, undefined],
    [null, {}],
    [{}, null],
    [{}, []],
    [[], {}],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, {}],
    [{ a: undefined }, { b: undefined }],
    [JSON.parse('{"__proto__":{"a":1}}') as unknown, JSON.parse('{"__proto__":{"a":2}}') as unknown],
    [JSON.parse('{"__proto__":{}}') as unknown, {}],
    [new Map([['a', 1]]), new Map([['a', 2]])],
    [new Map([['a', 1]]), new Map([['b', 1]])],
    [new Map([['a', 1]]), new Map()],
    [new Set(['a']), new Set(['b'])],
    [new Set(), new Map()],
    [new Map(), {}],
    [{}, new Map()],
  ])('%j and %j differ', (left, right) => {
    expect(deepEqual(left, right)).toBe(false);
  });

  test('sees the order of keys, as readers may iterate over them', () => {
    expect(deepEqual({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false);
    expect(deepEqual(new Set(['a', 'b']), new Set(['b', 'a']))).toBe(false);
  });

  test('compares instances of classes by identity', () => {
    const date = new Date(0);
    expect(deepEqual(date, date)).toBe(true);
    expect(deepEqual(date, new Date(0))).toBe(false);
    expect(deepEqual(/a/, /a/)).toBe(false);
  });

  test('calls values different that are too deep to compare', () => {
    expect(deepEqual(nested(100_000), nested(100_000))).toBe(false);
  });
});
