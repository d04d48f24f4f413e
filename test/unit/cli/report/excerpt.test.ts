import { describe, expect, test } from '@jest/globals';
import { excerpt } from '../../../../src/cli/report/excerpt.ts';

describe('excerpt', () => {
  test('points at the column', () => {
    expect(excerpt('  port: 99999', { line: 7, column: 3 })).toEqual(['   7 |   port: 99999', '     |   ^']);
    expect(excerpt('port: 99999', { line: 12_345, column: 1 })).toEqual(['12345 | port: 99999', '      | ^']);
  });

  test('of an empty line, and of a place behind its end', () => {
    expect(excerpt('', { line: 1, column: 1 })).toEqual(['   1 |', '     | ^']);
    expect(excerpt('ab', { line: 1, column: 9 })).toEqual(['   1 | ab', '     |   ^']);
  });

  test('shows the part of a long line that matters', () => {
    const text = `${'a'.repeat(200)}HERE${'b'.repeat(200)}`;
    const [line, caret] = excerpt(text, { line: 1, column: 201 });
    expect(line.slice(caret.indexOf('^')).startsWith('HERE')).toBe(true);
    expect(line).toMatch(/^ {3}1 \| …a+HEREb+…$/);
    expect(line.length).toBeLessThan(140);
    const [start] = excerpt(text, { line: 1, column: 3 });
    expect(start).toMatch(/\| a+…$/);
    const [end, last] = excerpt(text, { line: 1, column: text.length });
    expect(end).toMatch(/\| …b+$/);
    expect(last.indexOf('^')).toBe(end.length - 1);
  });

  test('lets nothing through to the terminal', () => {
    const [line, caret] = excerpt('\u001b[31m\tx', { line: 1, column: 7 });
    expect(line).toBe('   1 |  [31m x');
    expect(line[caret.indexOf('^')]).toBe('x');
  });

  test.each<[string, number]>([
    ['abc: ', 5],
    ['😀 ', 3],
    ['日本: ', 6],
    ['e\u0301: ', 3],
    ['ü: ', 3],
  ])('counts the columns that a terminal shows of %j', (before, columns) => {
    const [, caret] = excerpt(`${before}x`, { line: 1, column: before.length + 1 });
    expect(caret.indexOf('^') - '     | '.length).toBe(columns);
  });
});
