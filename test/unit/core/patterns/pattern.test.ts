import { describe, expect, test } from '@jest/globals';
import { alphabetOf } from '../../../../src/core/patterns/alphabet.ts';
import {
  compilePattern,
  keptPatternBytes,
  patternLimits,
  patternSyntaxProblem,
} from '../../../../src/core/patterns/pattern.ts';

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

  const aroundProblem =
    'RE2 does not support lookahead or lookbehind such as (?=…) or (?!…). List the alternatives with |, or use several matches or rules';
  const sizeProblem =
    'it has more than 2000 parts after counted repetitions are expanded. Use smaller counts, or * and +';
  const rangesProblem =
    'its classes have more than 8000 character ranges. Use fewer classes such as \\p{L}, or remove (?i)';
  const overlap =
    'its counted repetitions overlap with the part before them, for example .*. Use * or + instead of counts, or several matches';
  const effortProblem = `it takes more than 200000 steps to compile: ${overlap}`;
  const bytesProblem = `it takes more than 128 KiB: ${overlap}`;
  test.each([
    ['(?=a)', aroundProblem],
    ['(?!a)b', aroundProblem],
    ['(?<=a)b', aroundProblem],
    ['(?<!a)b', aroundProblem],
    ['(a)\\1', 'RE2 does not support backreferences such as \\1. Repeat the part itself'],
    ['(?<n>a)\\k<n>', 'RE2 does not support backreferences such as \\1. Repeat the part itself'],
    [
      '(?>a)',
      'RE2 does not support atomic groups (?>…) or possessive quantifiers such as a++. Remove the extra sign: RE2 never backtracks',
    ],
    [
      'a++',
      'RE2 does not support atomic groups (?>…) or possessive quantifiers such as a++. Remove the extra sign: RE2 never backtracks',
    ],
    ['(', 'missing closing ) at "(". Use RE2 syntax, with \\ before each literal special character'],
    [
      '*',
      'missing argument to repetition operator at "*". Use RE2 syntax, with \\ before each literal special character',
    ],
    ['a\\', 'trailing backslash at end of expression. Use RE2 syntax, with \\ before each literal special character'],
    ['[a\n', 'missing closing ] at "[a\\n". Use RE2 syntax, with \\ before each literal special character'],
    ['((x{100}){100}){100}', sizeProblem],
    ['\\pL{1000}'.repeat(400), sizeProblem],
    ['(?:[a-z]{1,700}){1,3}', sizeProblem],
    [
      '[a-z]{1,2001}',
      'invalid repeat count at "{1,2001}". Use RE2 syntax, with \\ before each literal special character',
    ],
    ['(?:){1000}'.repeat(3), sizeProblem],
    [
      ['L', 'M', 'N', 'P', 'S', 'C', 'Lu', 'Ll', 'Cn', 'Lo'].map((name) => `\\P{${name}}`).join('') + '(?i)\\pL\\PL',
      rangesProblem,
    ],
    ['.*a.{30}', effortProblem],
    ['[ab]{0,400}'.repeat(3), effortProblem],
    // No text leads to the repetitions: their states alone are too many.
    [`[^\\x00-\\x{10FFFF}](${'('.repeat(200)}a${')*'.repeat(200)}){1000}`, effortProblem],
    [Array.from({ length: 500 }, (_, index) => `[^${String.fromCharCode(0x4e00 + index)}]`).join(''), effortProblem],
    ['abcdefghijklmnopqrstuvwxyz0123456789'.repeat(54), bytesProblem],
    [
      '('.repeat(300) + ')'.repeat(300),
      'expression nests too deeply. Use RE2 syntax, with \\ before each literal special character',
    ],
    [
      'a'.repeat(4_097),
      'it has 4097 characters, and at most 4096 are allowed. Use a shorter expression, or several matches',
    ],
  ])('refuses %j', (text, problem) => {
    expect(compilePattern(text)).toEqual({ ok: false, problem, effort: expect.any(Number) });
  });

  test('compiles a text once while it is in use, and keeps bytes rather than patterns', () => {
    const first = compilePattern('/once');
    for (let index = 0; index < 900; index += 1) compilePattern(`/other/${index}`);
    expect(compilePattern('/once')).toBe(first);
    const large = (index: number): number => {
      const compiled = compilePattern(`${index}${'abcdefghijklmnopqrstuvwxyz'.repeat(30)}`);
      return compiled.ok ? compiled.pattern.bytes : 0;
    };
    let bytes = 0;
    for (let index = 0; bytes <= keptPatternBytes; index += 1) bytes += large(index);
    expect(compilePattern('/once')).not.toBe(first);
  });

  test.each([
    ['/api/v[0-9]+/users/[^/]+', 2_000],
    ['\\p{L}{1,1000}', 20_000],
    ['.*\\.(png|jpe?g|gif|css|js|woff2?)', 2_000],
    ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 2_000],
    ['.*(foo|bar).*(baz|qux).*', 2_000],
    ['.*a.{10}', 20_000],
  ])('%s takes at most %d bytes', (text, most) => {
    const compiled = compilePattern(text);
    expect(compiled.ok && compiled.pattern.bytes).toBeLessThanOrEqual(most);
  });

  test('repetitions cost states, not ranges of characters once more', () => {
    const bytesOf = (text: string): number => {
      const compiled = compilePattern(text);
      return compiled.ok ? compiled.pattern.bytes : NaN;
    };
    expect(bytesOf('\\p{L}{1000}') - bytesOf('\\p{L}{10}')).toBeLessThan(990 * 20);
  });

  test.each([
    'a'.repeat(4_096),
    '(a?){1,1000}',
    '.*a.{30}',
    '\\pL'.repeat(1_000),
    '(?i)[\\pL\\pN\\pM\\pS\\pP\\pZ\\pC]',
    '((((a{9}){9}){9}){9}){9}',
    '[^a]|'.repeat(800),
    `[^\\x00-\\x{10FFFF}](${'('.repeat(200)}a${')*'.repeat(200)}){1000}`,
  ])('the effort for %.20j has a limit', (text) => {
    const { effort } = compilePattern(text);
    expect(effort).toBeLessThanOrEqual(
      patternLimits.effort + 2_000 + 10 * patternLimits.characters + 16 * patternLimits.ranges,
    );
  });

  test('syntax is told without compiling', () => {
    expect(patternSyntaxProblem('.*a.{30}')).toBeUndefined();
    expect(patternSyntaxProblem('a**')).toBe(
      'invalid nested repetition operator at "**". Use RE2 syntax, with \\ before each literal special character',
    );
  });
});

test('the arrays of an alphabet have the size of its sets, not that of all ranges for each of them', () => {
  const Original = globalThis.Uint16Array;
  let made = 0;
  class Counted extends Original {
    constructor(length: number) {
      super(length);
      made += length;
    }
  }
  const members = Array.from({ length: 500 }, (_, index) => [0x4e00 + 2 * index, 0x4e00 + 2 * index]);
  globalThis.Uint16Array = Counted as unknown as Uint16ArrayConstructor;
  try {
    alphabetOf(members, 0, { bytes: 1e6, effort: 1e6 });
  } finally {
    globalThis.Uint16Array = Original;
  }
  // One of 1,001 ranges for the classes, one that all sets share, and one class for each set.
  expect(made).toBe(2 * 1_001 + 500);
});
