import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { automata } from '../../src/core/schema/generated/index.js';
import { readerOf } from '../../src/core/text/automaton.ts';

const sign = fc.constantFrom(
  ...'aZ09-._~%!/:*?#,; hms|'.split(''),
  'IPAddress',
  '\t',
  '\n',
  '\r',
  'é',
  '\u2028',
  '😀',
  '\ud83d',
  '\ude00',
);
const anyText = fc.array(sign, { maxLength: 8 }).map((signs) => signs.join(''));

/** Texts that the pattern matches, and such with something in them that it may not like. */
function textsNear(pattern: string): fc.Arbitrary<string> {
  const good = fc.stringMatching(new RegExp(pattern));
  const bad = fc.tuple(good, fc.nat(), anyText).map(([text, place, more]) => {
    const cut = place % (text.length + 1);
    return text.slice(0, cut) + more + text.slice(cut);
  });
  return fc.oneof(good, bad, anyText);
}

describe('automata of the schema', () => {
  test.each([...automata])('%s matches what RE2 matches', (pattern, automaton) => {
    const expression = RE2JS.compile(pattern);
    fc.assert(
      fc.property(textsNear(pattern), (text) => {
        expect([text, readerOf(automaton)(text)]).toEqual([text, expression.test(text)]);
      }),
      { numRuns: 500 },
    );
  });
});
