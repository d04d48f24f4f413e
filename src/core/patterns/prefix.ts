import { dead, start, stateAfter, type PatternTable } from './table.ts';

/**
 * How the paths of a match relate to a path prefix, segment by segment: all of them are below the prefix or equal to it, or some
 * may be, or none is.
 */
export type PrefixRelation = 'within' | 'overlapping' | 'disjoint';

const characterCount = 0x80;
const slash = 0x2f;

// The characters that follow a state, or that a class contains: none, several, or one character as its code plus `one`.
const unknown = 0;
const none = 1;
const several = 2;
const one = 3;

/**
 * Compares the texts that a table accepts with path prefixes. Only ASCII counts, because paths of requests have no other
 * characters. Each state is examined once, whatever the number of prefixes.
 */
export class PrefixComparison {
  private readonly table: PatternTable;
  /** By class. */
  private readonly contained: Uint8Array;
  /** By state. */
  private readonly following: Uint8Array;
  private stepsTaken = 0;

  constructor(table: PatternTable) {
    this.table = table;
    this.contained = new Uint8Array(table.classCount).fill(none);
    this.following = new Uint8Array(table.accepting.length);
    for (let code = 0; code < characterCount; code += 1) {
      const characterClass = table.asciiClasses[code] ?? 0;
      this.contained[characterClass] = together(this.contained[characterClass] ?? none, code + one);
    }
  }

  /** Characters of prefixes that were read. */
  get steps(): number {
    return this.stepsTaken;
  }

  /**
   * Returns how the accepted texts relate to a path prefix without a final slash. Linear in the length of the prefix.
   * `overlapping` may be wrong for a pattern that accepts no longer text, never the others.
   */
  relationTo(prefix: string): PrefixRelation {
    const { accepting } = this.table;
    let state = start;
    let isWithin = true;
    for (let index = 0; index < prefix.length; index += 1) {
      const code = prefix.charCodeAt(index);
      this.stepsTaken += 1;
      isWithin &&= accepting[state] !== 1 && this.leadsOnlyTo(state, code);
      state = stateAfter(this.table, state, code);
      if (state === dead) return 'disjoint';
    }
    if (isWithin && this.leadsOnlyTo(state, slash)) return 'within';
    const accepts = accepting[state] === 1 || stateAfter(this.table, state, slash) !== dead;
    return accepts ? 'overlapping' : 'disjoint';
  }

  /** Returns whether no other character than this one continues an accepted text. */
  private leadsOnlyTo(state: number, code: number): boolean {
    if (this.following[state] === unknown) this.following[state] = this.charactersAfter(state);
    const following = this.following[state];
    return following === none || following === code + one;
  }

  private charactersAfter(state: number): number {
    const { next, classCount } = this.table;
    return this.contained.reduce(
      (found, contained, characterClass) =>
        (next[state * classCount + characterClass] ?? dead) === dead ? found : together(found, contained),
      none,
    );
  }
}

function together(found: number, more: number): number {
  if (found === none) return more;
  return more === none ? found : several;
}
