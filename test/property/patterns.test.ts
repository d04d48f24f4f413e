import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { codePointsNamed } from '../../src/core/patterns/code-points.ts';
import { membersOf } from '../../src/core/patterns/sets.ts';
import { compilePattern } from '../../src/core/patterns/pattern.ts';
import { categoryNames, scriptNames } from '../../src/core/patterns/unicode-data.ts';

// re2js is another implementation of RE2, by other people: both have to take the same patterns, and match the same texts.

const atoms = [
  'a',
  'b',
  'K',
  's',
  '_',
  '1',
  ' ',
  '\\n',
  '\\.',
  '.',
  '[ab]',
  '[^a]',
  '[a-k]',
  '[^\\d]',
  '[\\w-]',
  '[]a]',
  '[^]a]',
  '[a-]',
  '[[:alpha:]]',
  '[[:^digit:]_]',
  '[[:foo:]]',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\pL',
  '\\PN',
  '\\p{Greek}',
  '\\p{^Lu}',
  '\\p{Lu}',
  '\\P{^Ll}',
  '[\\pL\\d]',
  '[^\\p{Lu}a]',
  '\\p{Foo}',
  '\\pX',
  '\\x41',
  '\\x{3b1}',
  '\\x{}',
  '\\101',
  '\\07',
  '\\8',
  '\\Qa.b\\E',
  '\\Q*',
  '^',
  '$',
  '\\A',
  '\\z',
  '\\b',
  '\\B',
  '\\C',
  '(?i)',
  '(?s)',
  '(?m)',
  '(?-i)',
  '(?is-m)',
  '(?i-)',
  '(?)',
  '(?U)',
  'é',
  'Σ',
  'ß',
  'ſ',
  'İ',
  '\u{1d7d8}',
  '\\-',
  '\\ ',
  '{',
  '}',
  ']',
  'a{',
  'a{1',
  'a{,2}',
  '-',
  '[b-a]',
  '[',
  '\\',
  '(?=a)',
  '(?P<x>',
  '(?<y>',
  ')',
  '[a\\]b]',
  '[\\x{41}-\\x{5a}]',
  '[\\n-\\r]',
  '\\a',
  '\\v',
  '\\y',
  '\\E',
];
const repetitions = [
  '*',
  '+',
  '?',
  '{2}',
  '{0,2}',
  '{1,3}',
  '{2,}',
  '{0}',
  '*?',
  '+?',
  '??',
  '{2}?',
  '**',
  '{1001}',
  '{3,2}',
  '{01}',
];
const openings = ['(', '(?:', '(?i:', '(?s:', '(?m:', '(?P<n>', '(?-s:'];
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...atoms),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}|${other}`),
    fc.tuple(fc.constantFrom(...openings), tie('pattern')).map(([opening, body]) => `${opening}${body})`),
    fc.tuple(tie('pattern'), fc.constantFrom(...repetitions)).map(([body, sign]) => body + sign),
  ),
}));
const character = fc.constantFrom(
  'a',
  'b',
  'k',
  'K',
  's',
  'S',
  '_',
  '1',
  '9',
  ' ',
  '\n',
  '.',
  '-',
  'é',
  'É',
  'Σ',
  'σ',
  'ς',
  'ß',
  'ẞ',
  'ſ',
  '\u212a',
  'İ',
  'i',
  '\u{1d7d8}',
  'α',
  'A',
  'B',
  '\r',
  '\x07',
  '{',
  '}',
  ']',
  '*',
  '\ud800',
  '\u{10ffff}',
  '٣',
  'ǅ',
);
const values = fc.array(
  fc.array(character, { maxLength: 5 }).map((characters) => characters.join('')),
  { maxLength: 12 },
);

describe('patterns', () => {
  test('take the syntax of RE2, and match what it matches', () => {
    fc.assert(
      fc.property(pattern, values, (text, some) => {
        const ours = compilePattern(text);
        const theirs = expressionOf(text);
        // We have limits that RE2 does not have.
        if (!ours.ok && ours.problem.includes('more than')) return;
        expect([text, ours.ok]).toEqual([text, theirs !== undefined]);
        if (!ours.ok || theirs === undefined) return;
        expect([text, some.map((value) => ours.pattern.matches(value))]).toEqual([
          text,
          some.map((value) => theirs.matches(value)),
        ]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('find a text that they match where there is one of the given characters', () => {
    const characters = 'ab1 -';
    const texts = fc.array(fc.stringMatching(/^[ab1 -]{0,4}$/), { maxLength: 12 });
    fc.assert(
      fc.property(pattern, texts, fc.constantFrom('', 'a', 'b1'), (text, some, prefix) => {
        const compiled = compilePattern(text);
        if (!compiled.ok) return;
        const shortest = compiled.pattern.shortest(prefix, characters);
        const others = some
          .map((rest) => prefix + rest)
          .filter((value) => value !== '' && compiled.pattern.matches(value));
        if (shortest === undefined) expect([text, others]).toEqual([text, []]);
        else {
          expect([text, shortest.startsWith(prefix), compiled.pattern.matches(shortest)]).toEqual([text, true, true]);
          // An empty text is found only where there is no other one.
          expect([text, shortest === '' ? others : others.filter((value) => value.length < shortest.length)]).toEqual([
            text,
            [],
          ]);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test.each(['Any', 'C', 'Cn', 'L', 'LC', 'M', 'N', 'P', 'S', 'Z', ...categoryNames, ...scriptNames])(
    'know the characters of %s',
    (name) => {
      expect(codePointsNamed(name).length).toBeGreaterThan(0);
      const points = codePointsNamed(name);
      const folded = membersOf({ isNegated: false, ignoreCase: true, items: [{ name, isNegated: false }] });
      const [plain, insensitive] = [RE2JS.compile(`\\p{${name}}`), RE2JS.compile(`(?i)\\p{${name}}`)];
      for (const [ours, theirs] of [
        [points, plain],
        [folded, insensitive],
      ] as const) {
        // Surrogates beside each other would make another character.
        const edges = ours
          .flatMap(
            (code, at) =>
              [
                [code, true],
                [at % 2 === 0 ? code - 1 : code + 1, false],
              ] as const,
          )
          .filter(([code]) => code >= 0 && code <= 0x10_ff_ff);
        expect(edges.filter(([code, isIn]) => theirs.matches(String.fromCodePoint(code)) !== isIn)).toEqual([]);
      }
    },
  );
});

function expressionOf(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(text);
  } catch {
    return undefined;
  }
}
