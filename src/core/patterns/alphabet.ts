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
  readonly classesOfSet: readonly Uint16Array[];
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
export function alphabetOf(members: readonly CodePoints[], assertions: number, allowance: Allowance): Alphabet {
  const sets = [...members];
  if ((assertions & (held.lineStart | held.lineEnd)) !== 0) sets.push([lineFeed, lineFeed]);
  if ((assertions & (held.wordBoundary | held.noWordBoundary)) !== 0) sets.push(wordCharacters);
  const starts = boundariesOf(sets);
  spend(allowance, starts.length);
  const partition: Partition = {
    starts,
    classes: new Uint16Array(starts.length),
    sizes: [starts.length],
    hits: new Uint32Array(starts.length),
  };
  for (const set of sets) divide(set, partition, allowance);
  const { classes, sizes, hits } = partition;
  const examples: number[] = sizes.map(() => 0);
  for (let range = starts.length - 1; range >= 0; range -= 1) examples[classes[range] ?? 0] = starts[range] ?? 0;
  // Shared by all sets: 2,000 of them, each with an array for 4,000 ranges, took 15 ms for one pattern.
  const found = new Uint16Array(starts.length);
  return {
    starts,
    classes,
    classCount: sizes.length,
    examples,
    classesOfSet: members.map((set) => classesOf(set, { starts, classes, hits, found }, allowance)),
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

/** The ranges, divided into classes. Never more classes than ranges. */
interface Partition {
  readonly starts: Uint32Array;
  /** By range: its class. */
  readonly classes: Uint16Array;
  /** By class: the number of its ranges. */
  readonly sizes: number[];
  /** By class: zero, except while a set is processed. */
  readonly hits: Uint32Array;
}

/** Splits each class into its characters in the set and the others. */
function divide(set: CodePoints, partition: Partition, allowance: Allowance): void {
  const { classes, sizes, hits } = partition;
  const ranges = fewerRanges(set, partition, allowance);
  const met: number[] = [];
  for (const range of ranges) {
    const old = classes[range] ?? 0;
    if (hits[old] === 0) met.push(old);
    hits[old] = (hits[old] ?? 0) + 1;
  }
  // By class: 0 if all of its ranges are in the set, otherwise the new class of those in the set.
  for (const old of met) {
    const [size = 0, hit = 0] = [sizes[old], hits[old]];
    hits[old] = 0;
    if (size === hit) continue;
    if (sizes.length > maxClasses) throw new TooCostly('bytes');
    sizes[old] = size - hit;
    hits[old] = sizes.push(hit) - 1;
  }
  for (const range of ranges) {
    const old = classes[range] ?? 0;
    const own = hits[old] ?? 0;
    if (own !== 0) classes[range] = own;
  }
  for (const old of met) hits[old] = 0;
}

/** The indexes of the ranges in a set or outside of it, whichever are fewer: both divide the classes in the same way. */
function fewerRanges(set: CodePoints, { starts }: Pick<Partition, 'starts'>, allowance: Allowance): readonly number[] {
  spend(allowance, set.length / 2);
  let count = 0;
  const bounds: number[] = [];
  for (let at = 0; at < set.length; at += 2) {
    const first = rangeAt(starts, set[at] ?? 0);
    // The set ends where a range ends.
    const last = rangeAt(starts, set[at + 1] ?? 0);
    bounds.push(first, last);
    count += last - first + 1;
  }
  const isInside = count <= starts.length / 2;
  spend(allowance, isInside ? count : starts.length - count);
  const found: number[] = [];
  let next = 0;
  for (let at = 0; at < bounds.length; at += 2) {
    const [first = 0, last = 0] = [bounds[at], bounds[at + 1]];
    for (let range = isInside ? first : next; range < (isInside ? last + 1 : first); range += 1) found.push(range);
    next = last + 1;
  }
  if (!isInside) for (let range = next; range < starts.length; range += 1) found.push(range);
  return found;
}

/**
 * The classes of a set.
 *
 * @param partition with `found`, which has room for all classes, and is overwritten
 */
function classesOf(
  set: CodePoints,
  { starts, classes, hits, found }: Pick<Partition, 'starts' | 'classes' | 'hits'> & { readonly found: Uint16Array },
  allowance: Allowance,
): Uint16Array {
  let count = 0;
  for (let at = 0; at < set.length; at += 2) {
    const last = set[at + 1] ?? 0;
    const from = rangeAt(starts, set[at] ?? 0);
    let range = from;
    for (; (starts[range] ?? Infinity) <= last; range += 1) {
      const one = classes[range] ?? 0;
      if (hits[one] !== 0) continue;
      hits[one] = 1;
      found[count] = one;
      count += 1;
    }
    spend(allowance, range - from);
  }
  // The arrays of a pattern take much memory together, so each gets its exact size.
  const own = found.slice(0, count);
  for (const one of own) hits[one] = 0;
  return own;
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
