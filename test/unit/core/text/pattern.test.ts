import { describe, expect, test } from '@jest/globals';
import { compilePattern } from '../../../../src/core/text/pattern.ts';

function matches(text: string, value: string): boolean {
  const compiled = compilePattern(text);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.pattern.matches(value);
}

describe('compilePattern', () => {
  test.each([
    ['/a', '/a', true],
    ['/a', '/ab', false],
    ['/a', 'x/a', false],
    ['a|ab', 'ab', true],
    ['^a$', 'a', true],
    ['a.b', 'a\nb', false],
    ['a$', 'a\n', false],
    ['A', 'a', false],
    ['(?i)A', 'a', true],
    ['', '', true],
    ['[0-9]{3}', '123', true],
    ['\\x{41}', 'A', true],
    ['(a*)*b', 'a'.repeat(4_000), false],
  ])('%j on %j: %s', (text, value, expected) => {
    expect(matches(text, value)).toBe(expected);
  });

  const aroundProblem = 'RE2 has no look-ahead or look-behind such as (?=…) or (?!…); list the alternatives with |, or use several matches or rules';
  const sizeProblem = 'it has more than 2000 parts once its counted repetitions are written out; use smaller counts, or * and +';
  test.each([
    ['(?=a)', aroundProblem],
    ['(?!a)b', aroundProblem],
    ['(?<=a)b', aroundProblem],
    ['(?<!a)b', aroundProblem],
    ['(a)\\1', 'RE2 has no back-references such as \\1; write the repeated part out'],
    ['(?<n>a)\\k<n>', 'RE2 has no back-references such as \\1; write the repeated part out'],
    ['(?>a)', 'RE2 has no atomic groups (?>…) or possessive repetitions such as a++; leave the extra sign out, RE2 never backtracks'],
    ['a++', 'RE2 has no atomic groups (?>…) or possessive repetitions such as a++; leave the extra sign out, RE2 never backtracks'],
    ['(', 'missing closing ) at "("; correct it in RE2 syntax, with \\ before a sign that is meant literally'],
    ['*', 'missing argument to repetition operator at "*"; correct it in RE2 syntax, with \\ before a sign that is meant literally'],
    ['a\\', 'trailing backslash at end of expression; correct it in RE2 syntax, with \\ before a sign that is meant literally'],
    ['[a\n', 'missing closing ] at "[a\\n"; correct it in RE2 syntax, with \\ before a sign that is meant literally'],
    ['((x{100}){100}){100}', sizeProblem],
    ['\\pL{1000}'.repeat(400), sizeProblem],
    ['[a-z]{1,2001}', sizeProblem],
    ['a'.repeat(4_097), 'it has 4097 characters; at most 4096 are allowed'],
  ])('refuses %j', (text, problem) => {
    expect(compilePattern(text)).toEqual({ ok: false, problem });
  });

  test('compiles a text once while it is in use', () => {
    const first = compilePattern('/once');
    for (let index = 0; index < 900; index += 1) compilePattern(`/other/${index}`);
    expect(compilePattern('/once')).toBe(first);
    for (let index = 0; index < 1_100; index += 1) compilePattern(`/more/${index}`);
    expect(compilePattern('/once')).not.toBe(first);
  });
});
