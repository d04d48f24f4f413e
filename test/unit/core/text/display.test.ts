import { describe, expect, test } from '@jest/globals';
import { printable, quote, shorten } from '../../../../src/core/text/display.ts';

describe('quote', () => {
  test.each<[unknown, string]>([
    ['plain', '"plain"'],
    ['', '""'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['a\r\nb\tc', '"a\\r\\nb\\tc"'],
    ['\0\u001b[31m', '"\\u0000\\u001b[31m"'],
    ['\u202egnp', '"\\u202egnp"'],
    ['\u{e0001}', '"\\u{e0001}"'],
    ['\ud800', '"\\ud800"'],
    [42, '42'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'nothing'],
    [['a'], 'a list'],
    [{ a: 1 }, 'an object'],
  ])('%j', (value, shown) => {
    expect(quote(value)).toBe(shown);
  });

  test('shortens long values', () => {
    expect(quote('x'.repeat(100), 5)).toBe('"xxxx…"');
    expect(quote('y'.repeat(2_000_000))).toBe(`"${'y'.repeat(63)}…"`);
  });
});

describe('shorten', () => {
  test.each([
    ['abcde', 5, 'abcde'],
    ['abcdef', 5, 'abcd…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀…'],
  ])('%s to %d', (text, limit, short) => {
    expect(shorten(text, limit)).toBe(short);
  });
});

describe('printable', () => {
  test.each([
    ['It is "as written\\" here.', 'It is "as written\\" here.'],
    ['a\nb\u0000c\u202ed\ud800e', 'a\\nb\\u0000c\\u202ed\\ud800e'],
  ])('%j', (message, shown) => {
    expect(printable(message, 100)).toBe(shown);
  });

  test('shortens', () => {
    expect(printable('abcdef', 5)).toBe('abcd…');
  });
});
