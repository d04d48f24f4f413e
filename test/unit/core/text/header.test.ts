import { expect, jest, test } from '@jest/globals';
import { controlCharacter, headerKey, isPrintableHeaderValue, isToken } from '../../../../src/core/text/header.ts';

test.each([
  ['X-Request-Id', true],
  ["!#$%&'*+-.^_`|~09", true],
  ['', false],
  ['a b', false],
  ['a:', false],
  ['ü', false],
  ['a\n', false],
])('isToken(%j) is %s', (text, expected) => {
  expect(isToken(text)).toBe(expected);
});

test('headerKey folds ASCII letters only', () => {
  expect(headerKey('X-Foo')).toBe('x-foo');
  // The Kelvin sign would become "k" under Unicode rules.
  expect(headerKey('\u212a')).toBe('\u212a');
  expect(headerKey('\u212aX-Ä\ud800')).toBe('\u212ax-Ä\ud800');
});

test('headerKey calls nothing for each letter of a long name', () => {
  const folded = jest.spyOn(String.prototype, 'toLowerCase');
  expect(headerKey('%2F'.repeat(1_000))).toBe('%2f'.repeat(1_000));
  expect(folded).toHaveBeenCalledTimes(1);
  folded.mockRestore();
});

test('names with other characters are converted only up to a length that no valid name has', () => {
  expect(headerKey('Aİ'.repeat(512))).toBe('aİ'.repeat(512));
  expect(headerKey('Aİ'.repeat(513))).toBe('Aİ'.repeat(513));
});

test.each([
  ['plain value', undefined],
  ['a\r\nb', '"\\r"'],
  ['\0', '"\\u0000"'],
  ['tab\there', '"\\t"'],
  ['\u0085', '"\\u0085"'],
  ['\u007f', '"\\u007f"'],
  ['ü', undefined],
])('controlCharacter(%j) is %j', (text, expected) => {
  expect(controlCharacter(text)).toBe(expected);
});

test.each([
  ['a b', true],
  ['a\tb', true],
  ['a  b', false],
  [' a', false],
  ['a ', false],
  ['', false],
  ['ü', false],
  ['a\n', false],
])('isPrintableHeaderValue(%j) is %s', (text, expected) => {
  expect(isPrintableHeaderValue(text)).toBe(expected);
});
