import { describe, expect, test } from '@jest/globals';
import { assert, jsonValue, property } from 'fast-check';
import { canonical, sameJson } from '../../../../src/core/text/compare-json.ts';

describe('canonical', () => {
  test.each<[unknown, unknown]>([
    [
      { a: 1, b: [1, { c: null }] },
      { b: [1, { c: null }], a: 1 },
    ],
    [undefined, null],
  ])('%j equals %j', (one, other) => {
    expect(canonical(one)).toBe(canonical(other));
  });

  test.each<[unknown, unknown]>([
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: '1' }],
    [{ a: { b: 1 } }, { a: 1, b: 1 }],
    [JSON.parse('{"__proto__":1}'), {}],
    [[], {}],
  ])('%j differs from %j', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  test('endures any depth', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(canonical(deep).length).toBeLessThan(1000);
  });
});

describe('sameJson', () => {
  test('says what the canonical form says', () => {
    assert(
      property(jsonValue(), jsonValue(), (one, other) => {
        expect(sameJson(one, other)).toBe(canonical(one) === canonical(other));
        expect(sameJson(one, structuredClone(one))).toBe(true);
      }),
    );
  });

  test.each([
    [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{ 0: 'a' }, ['a'], false],
    [JSON.parse('{"__proto__": {}}'), { toString: {} }, false],
  ])('%j and %j: %s', (one, other, expected) => {
    expect(sameJson(one, other)).toBe(expected);
  });

  test('is not brought down by nesting', () => {
    const nested: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
    expect(sameJson(nested, [1])).toBe(false);
    expect(sameJson(nested, JSON.parse('['.repeat(5000) + ']'.repeat(5000)))).toBe(false);
  });
});
