import { formatPath, PathSet } from '../resources/path.ts';
import { valueAt } from '../rules/engine/site-judge.ts';
import type { Finding } from '../rules/engine/rule.ts';
import type { JudgedFinding } from './judged-finding.ts';
import { lostProtectionRule, unknownFieldRule } from './policy.ts';

/**
 * What is told of all that was found, the schema's findings first: of several findings at one place those that weigh most,
 * since the others can wait until these are mended; of equals about one text, number or missing field the first, and the
 * schema's only where no rule knows better. The rules judge what the API server stores: that a field is missing which it drops
 * needs no other word.
 */
export function tellOnce(bySchema: readonly JudgedFinding[], byRules: readonly JudgedFinding[], json: unknown): readonly JudgedFinding[] {
  if (bySchema.length + byRules.length < 2) return [...bySchema, ...byRules];
  const dropped = new PathSet(bySchema.filter(({ rule }) => rule === unknownFieldRule || rule === lostProtectionRule).map(({ path }) => path));
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
    return before !== undefined && weightOf(finding) === weightOf(before) && typeof valueAt(json, finding.path) === 'object';
  };
  return [...bySchema.filter(isFirst), ...stored.filter((finding) => isFirst(finding) || isBeside(finding))];
}

const weights: Readonly<Record<JudgedFinding['effect'], number>> = { record: 0, warn: 1, deny: 2 };

/** As the profile `standard` would weigh it where `audit` only records. */
function weightOf({ effect, withheld }: JudgedFinding): number {
  return withheld ? weights.deny : weights[effect];
}

/**
 * Leaves out findings of a rule at places where the same rule has found something before: rules that status and traffic react to
 * are asked about an object as it was read, and again as a demand of the bundle about the object as it is stored.
 */
export function withoutRepetition(known: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  if (known.length === 0 || more.length === 0) return more;
  const byRule = new Map(Map.groupBy(known, ({ rule }) => rule).entries().map(([rule, found]) => [rule, new PathSet(found.map(({ path }) => path))]));
  return more.filter(({ rule, path }) => path.length === 0 || byRule.get(rule)?.meets(path) !== true);
}
