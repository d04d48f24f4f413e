import { expect, test } from '@jest/globals';
import { listItems, withoutBlanks } from '../../../../src/core/text/fields.ts';

test('items of a list have no blanks around them', () => {
  expect(listItems('\t Close ,, keep-alive\t,a b,\u00a0c')).toEqual(['close', '', 'keep-alive', 'a b', '\u00a0c']);
  expect(withoutBlanks(' x: \ty\t z ', 3, 8)).toBe('y');
  expect(withoutBlanks(' \t ')).toBe('');
});

// Each item took the square of the blanks: this one several minutes.
test('blanks inside an item are read once', () => {
  const item = `a${' '.repeat(1_000_000)}b`;
  expect(listItems(`${item}, close`)).toEqual([item, 'close']);
});
