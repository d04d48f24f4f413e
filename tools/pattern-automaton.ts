/**
 * Makes automata of the patterns in schemas, ahead of time: a regular expression in RE2 syntax becomes a table of states.
 * The package refa makes them, but reads JavaScript's syntax; what RE2 reads otherwise is set right or refused here.
 */
import {
  CharBase,
  CharSet,
  DFA,
  JS,
  NFA,
  visitAst,
  type CharacterClass,
  type Concatenation,
  type Element,
  type Expression,
  type NoParent,
} from 'refa';
import type { Automaton } from '../src/core/text/automaton.ts';

/** All characters beyond ASCII are one to an automaton: the first of them. */
const beyondAscii = 0x80;
const allCharacters = CharSet.all(beyondAscii);
const allButLineFeed = CharSet.fromCharacter(beyondAscii, '\n'.charCodeAt(0)).negate();
const anything: NoParent<Element> = {
  type: 'Quantifier',
  min: 0,
  max: Infinity,
  lazy: false,
  alternatives: [{ type: 'Concatenation', elements: [{ type: 'CharacterClass', characters: allCharacters }] }],
};

/**
 * The automaton of a pattern that may match anywhere in a text.
 *
 * @throws Error where the pattern uses something that is not known here
 */
export function automatonOf(pattern: string): Automaton {
  try {
    const alternatives = readPattern(pattern).alternatives.map(matchingWhole);
    return tableOf(DFA.fromFA(NFA.fromRegex({ type: 'Expression', alternatives }, { maxCharacter: beyondAscii })));
  } catch (error) {
    throw new Error(`the pattern ${pattern} has something unknown to tools/pattern-automaton.ts`, { cause: error });
  }
}

function readPattern(pattern: string): Expression {
  if (/\[\^?\]|\[:/.test(pattern))
    throw new Error('to RE2, but not here, []a] has a bracket in it, and [[:alpha:]] letters');
  // Later editions have flags within patterns, which refa overlooks.
  const parser = JS.Parser.fromLiteral({ source: pattern, flags: 'u' }, { ecmaVersion: 2024 });
  const { expression } = parser.parse({ assertions: 'unknown', maxBackreferenceWords: 0 });
  visitAst(expression, {
    onCharacterClassEnter: (node) => {
      node.characters = charactersOf(node, pattern);
    },
  });
  return expression;
}

function charactersOf({ characters, source }: CharacterClass, pattern: string): CharSet {
  if (pattern.slice(source?.start, source?.end) === '.') return allButLineFeed;
  const others = { min: beyondAscii, max: characters.maximum };
  if (!characters.isSupersetOf(others) && !characters.isDisjointWith(others))
    throw new Error('characters beyond ASCII cannot be told apart');
  return characters.resize(beyondAscii);
}

/** An alternative that matches a whole text where the given one matches a part. `^` and `$` elsewhere than at its ends stay unknown. */
function matchingWhole({ elements }: Concatenation): NoParent<Concatenation> {
  const padded = [anything, ...elements, anything];
  const from = isAssertion('^', padded[1]) ? 2 : 0;
  const to = isAssertion('$', padded.at(-2)) ? -2 : padded.length;
  return { type: 'Concatenation', elements: padded.slice(from, to) };
}

function isAssertion(sign: '^' | '$', element: NoParent<Element> | undefined): boolean {
  return element?.type === 'Unknown' && element.id === sign;
}

function tableOf(dfa: DFA): Automaton {
  dfa.minimize();
  const nodes = [...dfa.nodes()];
  const classes = new CharBase([allCharacters, ...nodes.flatMap(({ out }) => [...out.invert(beyondAscii).values()])])
    .sets;
  // Undefined is where a text leads that cannot match any more, whatever follows.
  const states = [...new Set([dfa.initial, undefined, ...nodes])];
  return {
    classOf: Array.from(allCharacters.characters(), (character) => classes.findIndex((set) => set.has(character))),
    next: states.map((state) => classes.map((set) => states.indexOf(state?.out.get(set.ranges[0]?.min ?? 0)))),
    accepting: states.map((state) => state !== undefined && dfa.finals.has(state)),
  };
}
