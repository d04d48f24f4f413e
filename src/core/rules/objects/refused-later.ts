import { formatPath, PathSet } from '../../resources/path.ts';
import {
  examinationOf,
  minors,
  nameOfBundle,
  versionOf,
  type Bundle,
  type StructureProblem,
  type WrittenObject,
} from '../../schema/index.ts';
import type { Steps } from '../../text/steps.ts';
import { warned } from '../engine/effects.ts';
import { judgementByBundle } from '../engine/judge-by-bundle.ts';
import type { Finding, Rule } from '../engine/rule.ts';

/**
 * After an upgrade of the CRDs, such an object can be changed only together with a fix. In some cases, not even its status can
 * be changed.
 */
export const refusedLater: Rule = {
  id: 'refused-later',
  summary: 'The newest bundle rejects or drops something that this bundle accepts.',
  effect: warned,
  source: 'Gateway API v1.7.0, CRDs; GEP-922, "Breaking changes" (experimental fields may change in any release)',
};

const newest = minors[minors.length - 1] ?? '1.7';

/**
 * Finds values and fields that the newest bundle of the channel would reject or drop, although the current bundle accepts them.
 * Returns an empty list if the current bundle is the newest. Never throws.
 *
 * @param present findings of the schema and rules of the current bundle, which are not repeated
 */
export function* findingsOfNewest(
  object: WrittenObject,
  bundle: Bundle,
  present: readonly Pick<Finding, 'path'>[],
): Steps<readonly Finding[]> {
  if (bundle.minor === newest || versionOf(object.kind, object.apiVersion, bundle) === undefined) return [];
  const later: Bundle = { ...bundle, minor: newest };
  const examination = yield* examinationOf(object, later);
  const { official } = yield* judgementByBundle(object, examination, later);
  const refused = [...official, ...examination.problems.map(asFinding)];
  const known = new PathSet(present.map(({ path }) => path));
  const seen = new Set<string>();
  const added = refused.filter(({ path }) => {
    const place = formatPath(path);
    return !seen.has(place) && seen.add(place) && !known.meets(path);
  });
  return added.map((finding): Finding => ({
    ...finding,
    rule: refusedLater.id,
    message: `Invalid in ${nameOfBundle(later)}: ${finding.message}`,
  }));
}

function asFinding({ path, message }: StructureProblem): Finding {
  return { rule: refusedLater.id, path, message };
}
