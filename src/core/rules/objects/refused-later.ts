import { formatPath, PathSet } from '../../resources/path.ts';
import { display } from '../../text/display.ts';
import { examinationOf, minors, nameOfBundle, versionOf, type Bundle, type StructureProblem, type WrittenObject } from '../../schema/index.ts';
import type { Steps } from '../../text/steps.ts';
import { warned } from '../engine/effects.ts';
import { judgeByBundle } from '../engine/judge-by-bundle.ts';
import type { Finding, Rule } from '../engine/rule.ts';

/** Whoever upgrades the CRDs cannot change such an object any more without mending it, and in places not even its status. */
export const refusedLater: Rule = {
  id: 'refused-later',
  summary: 'The newest bundle rejects or drops something that this bundle accepts.',
  effect: warned,
  source: 'Gateway API v1.7.0, CRDs; GEP-922, "Breaking changes" (experimental fields may change in any release)',
};

const newest = minors[minors.length - 1] ?? '1.7';

/**
 * What the newest bundle of the same channel would refuse or drop of an object that the present one takes. Nothing where the
 * present one is the newest. Never throws.
 *
 * @param present what the present bundle finds by its schema and rules: there is no need to say it twice
 */
export function* findingsOfNewest(object: WrittenObject, bundle: Bundle, present: readonly Pick<Finding, 'path'>[]): Steps<readonly Finding[]> {
  if (bundle.minor === newest || versionOf(object.kind, object.apiVersion, bundle) === undefined) return [];
  const later: Bundle = { ...bundle, minor: newest };
  const examination = yield* examinationOf(object, later);
  const refused = [...judgeByBundle(object, examination, later).official, ...examination.problems.map(asFinding)];
  const known = new PathSet(present.map(({ path }) => path));
  const seen = new Set<string>();
  const added = refused.filter(({ path }) => {
    const place = formatPath(path);
    return !seen.has(place) && seen.add(place) && !known.meets(path);
  });
  return added.map((finding): Finding => ({ ...finding, rule: refusedLater.id, message: `Rejected by ${nameOfBundle(later)}: ${finding.message}` }));
}

function asFinding({ path, message }: StructureProblem): Finding {
  const name = formatPath(path.slice(path.findLastIndex((part) => typeof part === 'string')));
  return { rule: refusedLater.id, path, message: `${display(name)} ${message}${/[.?]$/.test(message) ? '' : '.'}` };
}
