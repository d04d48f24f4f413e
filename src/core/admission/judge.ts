import { isOurs } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import { formatPath, isWithin } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { judgeOfficially } from '../rules/official/judge.ts';
import type { Effect, Finding } from '../rules/rule.ts';
import { findings } from '../rules/run.ts';
import { examine, type Bundle, type StructureProblem, type WrittenObject } from '../schema/index.ts';
import { effectOf, isWithheld, schemaRule, unknownFieldRule, type AdmissionPolicy } from './policy.ts';

/** One object as it came, and as it was read. */
export interface Candidate {
  readonly json: unknown;
  readonly apiVersion: string;
  readonly resource: Resource;
}

/** A finding together with what admission does with it. */
export interface JudgedFinding extends Finding {
  readonly effect: Exclude<Effect, 'none'>;
  /** It would deny, did not the profile `audit` only record. */
  readonly withheld: boolean;
}

/**
 * Everything that is to be said about one object: its structure by the schema of the bundle, then the rules. The
 * webhook and the command line call this, with the same policy, and so say the same.
 */
export function judge(read: Reader, candidate: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { kind, ref } = candidate.resource;
  return judgeWith(read.query(findings, kind, ref.namespace, ref.name), read, candidate, policy);
}

/** The same, of what was found by rules other than the bundle's. */
export function judgeWith(found: readonly Finding[], read: Reader, { json, apiVersion, resource: { kind, ref } }: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { official, problems } = judgeByBundle({ kind, apiVersion, json }, policy.bundle);
  const more = official.filter((one) => !found.some((other) => isSameMistake(one, other)));
  if (found.length + more.length === 0) return withStructure([], problems, policy);
  const ours = read.query(isOurs, kind, ref.namespace, ref.name);
  return withStructure([...withEffects(found, policy, ours), ...withBundleEffects(more, policy, ours)], problems, policy);
}

/** What the bundle says of an object of a kind that is not evaluated. */
export function judgeUnevaluated(object: WrittenObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { official, problems } = judgeByBundle(object, policy.bundle);
  return withStructure(withBundleEffects(official, policy, false), problems, policy);
}

function judgeByBundle(object: WrittenObject, bundle: Bundle): { readonly official: readonly Finding[]; readonly problems: readonly StructureProblem[] } {
  const examination = examine(object, bundle);
  return { official: judgeOfficially(object, examination, bundle), problems: examination.problems };
}

/** Some rules judge every object, and find more than any bundle does. */
function isSameMistake(one: Finding, other: Finding): boolean {
  return one.rule === other.rule && (isWithin(one.path, other.path) || isWithin(other.path, one.path));
}

/** Where a rule denies, it says what is wrong; the schema would only say once more that something is. */
function withStructure(byRules: readonly JudgedFinding[], problems: readonly StructureProblem[], policy: AdmissionPolicy): readonly JudgedFinding[] {
  if (problems.length === 0) return byRules;
  const explained = new Set(byRules.filter(({ effect }) => effect === 'deny').map(({ path }) => formatPath(path)));
  const unexplained = problems.filter(({ path }) => !explained.has(formatPath(path))).map(({ keyword, path, message }): Finding => ({
    rule: keyword === 'unknown' ? unknownFieldRule : schemaRule, path, message,
  }));
  return [...withBundleEffects(unexplained, policy, false), ...byRules];
}

/** The effects of what the bundle refuses. Where it is a guess which bundle that is, only an override makes it a denial. */
function withBundleEffects(found: readonly Finding[], policy: AdmissionPolicy, ours: boolean): readonly JudgedFinding[] {
  const judged = withEffects(found, policy, ours);
  if (policy.guessed !== true) return judged;
  return judged.map((finding) => (Object.hasOwn(policy.overrides, finding.rule) ? finding : { ...finding, effect: finding.effect === 'deny' ? 'warn' : finding.effect, withheld: false }));
}

function withEffects(found: readonly Finding[], policy: AdmissionPolicy, ours: boolean): readonly JudgedFinding[] {
  return found.flatMap((finding) => {
    const effect = effectOf(finding.rule, policy, ours);
    return effect === 'none' ? [] : [{ ...finding, effect, withheld: isWithheld(finding.rule, policy, ours) }];
  });
}
