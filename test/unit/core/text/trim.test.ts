import { expect, test } from '@jest/globals';
import { withoutTrailing } from '../../../../src/core/text/trim.ts';

test.each([
  ['', '/', ''],
  ['a', '/', 'a'],
  ['/a//b//', '/', '/a//b'],
  ['///', '/', ''],
  ['-a.-.-', '-.', '-a'],
  [`${'-'.repeat(100_000)}a`, '-', `${'-'.repeat(100_000)}a`],
])('%j without %j at its end', (text, characters, expected) => {
  expect(withoutTrailing(text, characters)).toBe(expected);
});
