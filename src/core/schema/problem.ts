import { nearest } from '../text/suggest.ts';
import { channels, minors, type Bundle, type Minor } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { nodeAt } from './locate.ts';
import type { Node, ObjectNode } from './node.ts';

/** A difference between an object and the schema of a bundle. */
export interface StructureProblem {
  readonly path: FieldPath;
  /** Describes the error and the fix in complete sentences. */
  readonly message: string;
  /** The keyword of JSON Schema, `duplicate`, or `unknown` for a field that the API server drops. */
  readonly keyword: string;
  /** For an unknown field: the protection that is lost with it. The message includes it. */
  readonly lost?: string;
  /** For a field that is unknown to all bundles: the fields that exist. The message includes it. */
  readonly advice?: string;
}

/** Maximum number of problems per object: more would not help, and an object could consist of nothing but problems. */
export const maximumProblems = 100;

/** The first problem of each location, up to the maximum. Takes no more problems than these, because each one takes long to describe. */
export function firstOfEachPlace(problems: Iterable<StructureProblem>): readonly StructureProblem[] {
  const first = new Map<string, StructureProblem>();
  for (const problem of problems) {
    const place = JSON.stringify(problem.path);
    if (!first.has(place)) first.set(place, problem);
    if (first.size === maximumProblems) break;
  }
  return [...first.values()];
}

/** The name of a bundle, e.g. `v1.7 standard`. */
export function nameOf(bundle: Bundle): string {
  return `v${bundle.minor} ${bundle.channel}`;
}

/** The schema that an object is compared with: one version of a kind in one bundle. */
export interface Subject {
  readonly body: ObjectNode;
  readonly bundle: Bundle;
  /** Whether another bundle also has that version. */
  readonly existsIn: (bundle: Bundle) => boolean;
}

/** Whether a node in a bundle has the required property. */
export type Trait = (node: Node, bundle: Bundle) => boolean;

/**
 * The bundles in which the location `path` has a trait that it lacks in the bundle of the subject: `is in the
 * experimental channel since v1.4, not in v1.7 standard`. `undefined` if no bundle has it.
 */
export function elsewhere({ body, bundle, existsIn }: Subject, path: FieldPath, trait: Trait): string | undefined {
  const place = whereabouts((candidate) => {
    const node = existsIn(candidate) ? nodeAt(body, path, candidate) : undefined;
    return node !== undefined && trait(node, candidate);
  });
  return place === undefined ? undefined : `${place}, not in ${nameOf(bundle)}`;
}

/** `is in both channels since v1.5` or `was in the experimental channel from v1.2 to v1.3`. `undefined` if no bundle has it. */
export function whereabouts(has: (bundle: Bundle) => boolean): string | undefined {
  const ranges = channels.flatMap((channel) => {
    const having = minors.filter((minor) => has({ minor, channel }));
    const [first, last] = [having[0], having.at(-1)];
    return first === undefined || last === undefined ? [] : [{ channel, last, text: describeRange(first, last) }];
  });
  const [one, other] = ranges;
  if (one === undefined) return undefined;
  const verb = ranges.some(({ last }) => last === minors.at(-1)) ? 'is' : 'was';
  if (one.text === other?.text) return `${verb} in both channels ${one.text}`;
  return `${verb} ${ranges.map(({ channel, text }) => `in the ${channel} channel ${text}`).join(' and ')}`;
}

function describeRange(first: Minor, last: Minor): string {
  if (last === minors.at(-1)) return `since v${first}`;
  return first === last ? `of v${first}` : `from v${first} to v${last}`;
}

/** The candidate that was probably meant by `word`: one with a similar spelling, or the only one that contains it. */
export function suggestion(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word, candidates);
  if (near !== undefined || word.length < 3) return near;
  const folded = word.toLowerCase();
  const containing = candidates.filter((candidate) => candidate.toLowerCase().includes(folded));
  return containing.length === 1 ? containing[0] : undefined;
}
