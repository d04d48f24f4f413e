import { describe, expect, test } from '@jest/globals';
import { readerOf } from '../../../src/core/text/automaton.ts';
import { automatonOf } from '../../../tools/pattern-automaton.ts';

function matching(pattern: string, texts: readonly string[]): readonly string[] {
  const automaton = automatonOf(pattern);
  return texts.filter((text) => readerOf(automaton)(text));
}

describe('automatonOf', () => {
  test.each([
    ['abc', ['abc', 'xabcx'], ['ab', 'acb', '']],
    ['^a|b$', ['ax', 'xb'], ['xa', 'bx', '']],
    ['^$', [''], ['a']],
    ['', ['', 'a'], []],
    ['(^a$)|(?:^(b|c)*$)', ['a', 'bcb', ''], ['aa', 'ba']],
    ['^(a|b)*$', ['', 'abba'], ['abc']],
    ['^(?:ab)+c?$', ['ab', 'ababc'], ['', 'c', 'abcc']],
    ['^a{2}$', ['aa'], ['a', 'aaa']],
    ['^a{2,}$', ['aa', 'aaaa'], ['a']],
    ['^(a{1,2}b){1,2}$', ['ab', 'aabab'], ['aaab', 'ababab', '']],
    ['^[a-c_-]$', ['b', '-', '_'], ['d', '', 'ab']],
    ['^[^a-c]$', ['d', 'é', '😀', '\n'], ['a', '😀😀']],
    [String.raw`^[\]^]$`, [']', '^'], ['a']],
    ['^a+?b$', ['ab', 'aab'], ['b']],
    [String.raw`^\d\D$`, ['1a', '0é'], ['11', 'a1', '१a']],
    ['^.$', ['a', '😀', '\ud83d', '\r', '\u2028'], ['\n', '']],
    [String.raw`^\.\x41\t\\[\]]$`, ['.A\t\\]'], ['aA\t\\]']],
  ])('%s', (pattern, good, bad) => {
    expect(matching(pattern, [...good, ...bad])).toEqual(good);
  });

  test('the time that a text takes does not depend on the pattern', () => {
    expect(matching('^(a*)*(a|aa)*$', ['a'.repeat(100_000), `${'a'.repeat(100_000)}!`])).toHaveLength(1);
  });

  test.each([
    '(?i)a',
    '(?i:a)',
    '(?s:.)',
    '(?=a)',
    String.raw`\ba`,
    String.raw`(a)\1`,
    '(a',
    'a)',
    '[a',
    '*',
    'a{2}{3}',
    '\\',
    'é',
    '[^é]',
    String.raw`\s`,
    String.raw`\pL`,
    '[]a[b]',
    '[[:alpha:]b[c]',
    '^(a|b$)',
    '(^|a)b',
    'a$b',
    '^^a',
  ])('%s is told to be unknown', (pattern) => {
    expect(() => automatonOf(pattern)).toThrow(/has something unknown/);
  });
});
