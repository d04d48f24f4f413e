import { dead, start, stateAfter, type PatternTable } from './pattern-table.ts';

/**
 * How the paths of a match relate to a path prefix, segment by segment: all of them are below the prefix or equal to it, or some
 * may be, or none is.
 */
export type PrefixRelation = 'within' | 'overlapping' | 'disjoint';

const characters = Array.from({ length: 0x80 }, (_, code) => code);
const slash = 0x2f;

/**
 * Returns how the texts that a table accepts relate to a path prefix without a final slash. Only ASCII counts, because paths of
 * requests have no other characters. Linear in the length of the prefix. `overlapping` may be wrong for a pattern that accepts
 * no longer text, never the others.
 */
export function relationToPrefix(table: PatternTable, prefix: string): PrefixRelation {
  let state = start;
  let isWithin = true;
  for (const character of prefix) {
    const code = character.charCodeAt(0);
    isWithin &&= table.accepting[state] !== 1 && leadsOnlyTo(table, state, code);
    state = stateAfter(table, state, code);
    if (state === dead) return 'disjoint';
  }
  if (isWithin && leadsOnlyTo(table, state, slash)) return 'within';
  const accepts = table.accepting[state] === 1 || stateAfter(table, state, slash) !== dead;
  return accepts ? 'overlapping' : 'disjoint';
}

/** Returns whether no other character than this one continues an accepted text. */
function leadsOnlyTo(table: PatternTable, state: number, code: number): boolean {
  return characters.every((other) => other === code || stateAfter(table, state, other) === dead);
}
