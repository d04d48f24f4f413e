import { codePointsNamed, complement, folded, union, type CodePoints } from './code-points.ts';

/** An item in brackets: a range, or a named or constant class. */
export type SetItem =
  | { readonly first: number; readonly last: number }
  | { readonly name: string; readonly isNegated: boolean }
  | { readonly points: CodePoints; readonly isNegated: boolean };

/** A set of characters as written. */
export interface CharacterSet {
  readonly isNegated: boolean;
  readonly ignoreCase: boolean;
  readonly items: readonly SetItem[];
}

const digits = [0x30, 0x39];
const upper = [0x41, 0x5a];
const lower = [0x61, 0x7a];
const word = [...digits, ...upper, 0x5f, 0x5f, ...lower];
const space = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];

/** Classes written as escaped letters. They are ASCII. */
export const classEscapes: ReadonlyMap<string, SetItem> = new Map(
  Object.entries({ d: digits, s: space, w: word }).flatMap(([letter, points]): [string, SetItem][] => [
    [letter, { points, isNegated: false }],
    [letter.toUpperCase(), { points, isNegated: true }],
  ]),
);

const posix = {
  alnum: [...digits, ...upper, ...lower],
  alpha: [...upper, ...lower],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: digits,
  graph: [0x21, 0x7e],
  lower,
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper,
  word,
  xdigit: [...digits, 0x41, 0x46, 0x61, 0x66],
};

/** Classes such as `[:alpha:]` and `[:^alpha:]`. They are ASCII. */
export const posixClasses: ReadonlyMap<string, SetItem> = new Map(
  Object.entries(posix).flatMap(([name, points]): [string, SetItem][] => [
    [`[:${name}:]`, { points, isNegated: false }],
    [`[:^${name}:]`, { points, isNegated: true }],
  ]),
);

/** The number of ranges to process for computing a set, estimated from the names of its classes. */
export function weightOf({ items, ignoreCase }: CharacterSet): number {
  const ranges = items.reduce((sum, item) => sum + ('first' in item ? 1 : pointsOf(item).length / 2), 0);
  return ignoreCase ? ranges + items.reduce((sum, item) => sum + foldWeight(item), 0) : ranges;
}

/** The maximum number of characters that case folding adds to an item: three for each character, and no more than exist. */
function foldWeight(item: SetItem): number {
  const points = 'first' in item ? [item.first, item.last] : pointsOf(item);
  let characters = 0;
  for (let at = 0; at < points.length; at += 2) characters += (points[at + 1] ?? 0) - (points[at] ?? 0) + 1;
  return Math.min(3 * characters, charactersWithCase);
}

/** The number of Unicode characters with another case. */
const charactersWithCase = 3_000;

/** The characters of a set. For case-insensitive sets, classes include both cases before negation, whether negated or not. */
export function membersOf({ isNegated, ignoreCase, items }: CharacterSet): CodePoints {
  const pairs: number[] = [];
  for (const item of items) {
    const points = 'first' in item ? [item.first, item.last] : pointsOf(item);
    const all = ignoreCase ? folded(points) : points;
    for (const point of 'isNegated' in item && item.isNegated ? complement(all) : all) pairs.push(point);
  }
  const members = union(pairs);
  return isNegated ? complement(members) : members;
}

function pointsOf(item: Exclude<SetItem, { readonly first: number }>): CodePoints {
  return 'points' in item ? item.points : codePointsNamed(item.name);
}
