import { formatPath, PathSet } from '../resources/path.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { isPresent, valueAt } from '../text/record.ts';
import type { JudgedFinding } from './judged-finding.ts';
import { lostProtectionRule, unknownFieldRule } from './policy.ts';

/**
 * Merges the findings of schema and rules, the schema's first. Both can report one fault, because a rule that affects status and
 * traffic must find it whatever bundle stored the object, and the schema of the bundle in use may reject it as well. The rule
 * explains more, so the schema's finding remains only if no rule reports its location. If several findings concern one location,
 * only those with the highest weight remain; the others can wait until these are fixed. If findings of equal weight concern the
 * same string, number or missing field, only the first remains. The rules judge the object as the API server stores it, so their
 * findings about fields that it drops are left out.
 */
export function mergeFindings(
  bySchema: readonly JudgedFinding[],
  byRules: readonly JudgedFinding[],
  json: unknown,
): readonly JudgedFinding[] {
  if (bySchema.length + byRules.length < 2) return [...bySchema, ...byRules];
  const dropped = new PathSet(
    bySchema.filter(({ rule }) => rule === unknownFieldRule || rule === lostProtectionRule).map(({ path }) => path),
  );
  const stored = byRules.filter(({ path }) => !dropped.covers(path));
  const places = new Map([...stored, ...bySchema].map((finding) => [finding, formatPath(finding.path)]));
  const first = new Map<string, JudgedFinding>();
  for (const [finding, place] of places) {
    const before = first.get(place);
    if (before === undefined || weightOf(finding) > weightOf(before)) first.set(place, finding);
  }
  const firstBeside = (finding: JudgedFinding): JudgedFinding | undefined => first.get(places.get(finding) ?? '');
  const isFirst = (finding: JudgedFinding): boolean => firstBeside(finding) === finding;
  const isBeside = (finding: JudgedFinding): boolean => {
    const before = firstBeside(finding);
    if (before === undefined || weightOf(finding) !== weightOf(before)) return false;
    const value = valueAt(json, finding.path);
    return isPresent(value) && typeof value === 'object';
  };
  return [...bySchema.filter(isFirst), ...stored.filter((finding) => isFirst(finding) || isBeside(finding))];
}

const weights: Readonly<Record<JudgedFinding['effect'], number>> = { record: 0, warn: 1, deny: 2 };

/** Returns the weight of a finding. A finding that the profile `audit` only records has the weight that it has in `standard`. */
function weightOf({ effect, withheld }: JudgedFinding): number {
  return withheld ? weights.deny : weights[effect];
}

/**
 * Removes findings of a rule at locations where the same rule already has one: the union of what one rule finds in two objects. A
 * rule that affects status and traffic judges the object as read, whatever bundle is installed. The bundle demands the same of the
 * object as its API server stores it. Neither includes the other: a bundle may drop a field, or may not have the rule.
 */
export function withoutKnown(known: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  if (known.length === 0 || more.length === 0) return more;
  const byRule = new Map(
    Map.groupBy(known, ({ rule }) => rule)
      .entries()
      .map(([rule, found]) => [rule, new PathSet(found.map(({ path }) => path))]),
  );
  return more.filter(({ rule, path }) => path.length === 0 || byRule.get(rule)?.meets(path) !== true);
}
