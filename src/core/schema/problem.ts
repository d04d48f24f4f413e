import { nearest } from '../text/suggest.ts';
import { isVersioned, type Bundle, type MaybeVersioned } from './availability.ts';
import type { FieldPath } from './json.ts';

/** Something in which an object differs from the schema of a bundle. */
export interface StructureProblem {
  readonly path: FieldPath;
  /** What is wrong and what to write instead; begins in the middle of a sentence, as after `spec.rules: `. */
  readonly message: string;
  /** The keyword of JSON Schema, `duplicate`, or `unknown` for a field that the API server drops. */
  readonly keyword: string;
}

/** More problems than these help nobody, and an object may be made of nothing else. */
export const maximumProblems = 100;

/** `v1.7 standard` */
export function nameOf(bundle: Bundle): string {
  return `v${bundle.minor} ${bundle.channel}`;
}

/**
 * Where else something is to be found that this bundle lacks: `is in the experimental channel since v1.4, not in
 * v1.7 standard`; `undefined` where it is nowhere else.
 */
export function elsewhere(value: MaybeVersioned<unknown>, bundle: Bundle): string | undefined {
  if (!isVersioned(value)) return undefined;
  const since = Object.entries(value.variants.at(-1)?.availability.since ?? {});
  if (since.length === 0) return undefined;
  const places = since.map(([channel, minor]) => `in the ${channel} channel since v${minor}`);
  return `is ${places.join(' and ')}, not in ${nameOf(bundle)}`;
}

/** What was probably meant by `word`: something spelled much the same, or the only one that contains it. */
export function suggestion(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word, candidates);
  if (near !== undefined || word.length < 3) return near;
  const containing = candidates.filter((candidate) => candidate.toLowerCase().includes(word.toLowerCase()));
  return containing.length === 1 ? containing[0] : undefined;
}
