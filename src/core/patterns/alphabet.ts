import type { CodePoints } from './code-points.ts';
import { spend, TooCostly, type Allowance } from './allowance.ts';
import type { Assertion } from './syntax.ts';

/** One bit per assertion. */
export const held: Readonly<Record<Assertion, number>> = {
  textStart: 1,
  textEnd: 2,
  lineStart: 4,
  lineEnd: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
};

const maxClasses = 0xff_ff;

/** Characters, divided into classes by the sets that contain them. */
export interface Alphabet {
  readonly starts: Uint32Array;
  readonly classes: Uint16Array;
  readonly classCount: number;
  /** Set → its classes. */
  readonly classesOfSet: readonly (readonly number[])[];
  /** Class → one of its characters. */
  readonly examples: readonly number[];
}

export const lineFeed = 0x0a;
const wordCharacters: CodePoints = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/**
 * Divides all characters into classes that a pattern does not distinguish.
 *
 * @param members the characters of each set of the pattern
 * @param asked the bits (see `held`) of the assertions in the pattern
 * @throws TooCostly
 */
export function alphabetOf(members: readonly CodePoints[], asked: number, allowance: Allowance): Alphabet {
  const sets = [...members];
  if ((asked & (held.lineStart | held.lineEnd)) !== 0) sets.push([lineFeed, lineFeed]);
  if ((asked & (held.wordBoundary | held.noWordBoundary)) !== 0) sets.push(wordCharacters);
  const starts = boundariesOf(sets);
  spend(allowance, starts.length);
  const divided = new Uint16Array(starts.length);
  let count = 1;
  for (const set of sets) count = divide(set, { starts, classes: divided, count }, allowance);
  // Classes without remaining characters are left out.
  const numbers = new Map<number, number>();
  const examples: number[] = [];
  const classes = divided.map((old, range) => {
    let number = numbers.get(old);
    if (number === undefined) {
      number = examples.push(starts[range] ?? 0) - 1;
      numbers.set(old, number);
    }
    return number;
  });
  return {
    starts,
    classes,
    classCount: examples.length,
    examples,
    classesOfSet: members.map((set) => classesOf(set, { starts, classes }, allowance)),
  };
}

/** The first code points of the ranges that may differ from the previous one, including 0. */
function boundariesOf(sets: readonly CodePoints[]): Uint32Array {
  const all = new Uint32Array(1 + sets.reduce((sum, set) => sum + set.length, 0));
  let count = 1;
  for (const set of sets) {
    for (let at = 0; at < set.length; at += 1) {
      all[count] = (set[at] ?? 0) + (at % 2);
      count += 1;
    }
  }
  return all.sort().filter((code, index, sorted) => index === 0 || code !== sorted[index - 1]);
}

interface Division {
  readonly starts: Uint32Array;
  readonly classes: Uint16Array;
  readonly count: number;
}

/** Splits each class into its characters in the set and the others. Returns the new number of classes. */
function divide(set: CodePoints, { starts, classes, count }: Division, allowance: Allowance): number {
  const moved = new Map<number, number>();
  for (let at = 0; at < set.length; at += 2) {
    const last = set[at + 1] ?? 0;
    for (let range = rangeAt(starts, set[at] ?? 0); (starts[range] ?? Infinity) <= last; range += 1) {
      spend(allowance, 1);
      const before = classes[range] ?? 0;
      const after = moved.get(before) ?? count + moved.size;
      moved.set(before, after);
      classes[range] = after;
    }
  }
  if (count + moved.size > maxClasses) throw new TooCostly('bytes');
  return count + moved.size;
}

/** The classes of a set. */
function classesOf(
  set: CodePoints,
  { starts, classes }: Pick<Division, 'starts' | 'classes'>,
  allowance: Allowance,
): readonly number[] {
  const found = new Set<number>();
  for (let at = 0; at < set.length; at += 2) {
    const last = set[at + 1] ?? 0;
    for (let range = rangeAt(starts, set[at] ?? 0); (starts[range] ?? Infinity) <= last; range += 1) {
      spend(allowance, 1);
      found.add(classes[range] ?? 0);
    }
  }
  return [...found];
}

/** The index of the range that contains a code point, given the starts of the ranges. */
export function rangeAt(starts: ArrayLike<number>, code: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= code) low = middle;
    else high = middle - 1;
  }
  return low;
}
