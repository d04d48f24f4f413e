import { categoryNames, categoryRuns, foldSteps, scriptNames, scriptRuns } from './unicode-data.ts';

/** A set of code points: the first and the last of each range. Ranges are in ascending order and never adjacent. */
export type CodePoints = readonly number[];

export const lastCodePoint = 0x10_ff_ff;

/** The union of ranges in any order, as pairs of first and last code point. */
export function union(pairs: readonly number[]): CodePoints {
  if (isUnion(pairs)) return pairs;
  const order: number[] = [];
  for (let at = 0; at < pairs.length; at += 2) order.push(at);
  order.sort((left, right) => (pairs[left] ?? 0) - (pairs[right] ?? 0));
  const merged: number[] = [];
  for (const at of order) {
    const [first = 0, last = 0] = [pairs[at], pairs[at + 1]];
    const end = merged.at(-1);
    if (end === undefined || first > end + 1) merged.push(first, last);
    else if (last > end) merged[merged.length - 1] = last;
  }
  return merged;
}

function isUnion(pairs: readonly number[]): boolean {
  for (let at = 2; at < pairs.length; at += 2) if ((pairs[at] ?? 0) <= (pairs[at - 1] ?? 0) + 1) return false;
  return true;
}

/** All code points outside of a set. */
export function complement(set: CodePoints): CodePoints {
  const rest: number[] = [];
  let next = 0;
  for (let at = 0; at < set.length; at += 2) {
    const first = set[at] ?? 0;
    if (first > next) rest.push(next, first - 1);
    next = (set[at + 1] ?? 0) + 1;
  }
  if (next <= lastCodePoint) rest.push(next, lastCodePoint);
  return rest;
}

/** A set and all code points that equal a member under simple case folding. */
export function folded(set: CodePoints): CodePoints {
  const { codes, nexts } = folds();
  const more = [...set];
  for (let at = 0; at < set.length; at += 2) {
    const last = set[at + 1] ?? 0;
    for (let index = firstAtLeast(codes, set[at] ?? 0); (codes[index] ?? Infinity) <= last; index += 1) {
      const code = codes[index] ?? 0;
      for (let next = nexts.get(code) ?? code; next !== code; next = nexts.get(next) ?? code) more.push(next, next);
    }
  }
  return more.length === set.length ? set : union(more);
}

/** The position of the first number in a sorted list that is at least `least`. */
function firstAtLeast(sorted: readonly number[], least: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Caches of pure functions, bounded by the number of category and script names.
const named = new Map<string, CodePoints>();
let foldTable: { readonly codes: readonly number[]; readonly nexts: ReadonlyMap<number, number> } | undefined;
const runTables = new Map<string, readonly Run[]>();

/** A run of code points with the same value, starting at `first`. */
interface Run {
  readonly first: number;
  readonly length: number;
  readonly value: number;
}

const groupsOfCategories: ReadonlySet<string> = new Set(['C', 'Cn', 'L', 'LC', 'M', 'N', 'P', 'S', 'Z']);
const names: ReadonlySet<string> = new Set(['Any', ...groupsOfCategories, ...categoryNames, ...scriptNames]);

/** Whether `name` is a general category (`L`, `Lu`), a script by its long name (`Greek`), or `Any`. */
export function isNameOfCodePoints(name: string): boolean {
  return names.has(name);
}

/** The code points of a category or script; empty if the name is unknown. `C` includes unassigned code points. */
export function codePointsNamed(name: string): CodePoints {
  const known = named.get(name);
  if (known !== undefined) return known;
  const set = pointsOf(name);
  if (isNameOfCodePoints(name)) named.set(name, set);
  return set;
}

function pointsOf(name: string): CodePoints {
  if (name === 'Any') return [0, lastCodePoint];
  if (!groupsOfCategories.has(name) && !categoryNames.includes(name)) {
    const value = scriptNames.indexOf(name) + 1;
    return value === 0 ? [] : ofRuns(scriptRuns, (other) => other === value);
  }
  const isIn = categoryNames.map((category) =>
    name === 'LC' ? ['Lu', 'Ll', 'Lt'].includes(category) : category.startsWith(name),
  );
  return ofRuns(categoryRuns, (value) => (value === 0 ? 'Cn'.startsWith(name) : (isIn[value - 1] ?? false)));
}

function ofRuns(text: string, isWanted: (value: number) => boolean): CodePoints {
  const pairs: number[] = [];
  for (const { first, length, value } of runsOf(text)) if (isWanted(value)) pairs.push(first, first + length - 1);
  return union(pairs);
}

function runsOf(text: string): readonly Run[] {
  let runs = runTables.get(text);
  if (runs === undefined) {
    let first = 0;
    runs = Array.from(pairsOf(text), ([length, value]) => {
      const run = { first, length, value };
      first += length;
      return run;
    });
    runTables.set(text, runs);
  }
  return runs;
}

function folds(): NonNullable<typeof foldTable> {
  if (foldTable !== undefined) return foldTable;
  const nexts = new Map<number, number>();
  let code = 0;
  for (const [step, toNext] of pairsOf(foldSteps)) {
    code += step;
    nexts.set(code, code + toNext);
  }
  foldTable = { codes: [...nexts.keys()], nexts };
  return foldTable;
}

function* pairsOf(text: string): Generator<readonly [number, number]> {
  for (const word of text.split(' ')) {
    const [first = '', second = ''] = word.split('.');
    yield [parseInt(first, 36), parseInt(second, 36)];
  }
}
