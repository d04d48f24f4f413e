import { isOurs } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import { formatPath, isWithin } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { judgeOfficially } from '../rules/official/judge.ts';
import type { Effect, Finding } from '../rules/rule.ts';
import { findings } from '../rules/run.ts';
import { validateStructure, type SchemaKind } from '../schema/index.ts';
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
  return withStructure(judgeByRules(read, candidate, policy), { ...candidate, kind: candidate.resource.kind }, policy);
}

/** The same, of what was found by rules other than the bundle's. */
export function judgeWith(found: readonly Finding[], read: Reader, candidate: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return withStructure(withBundle(found, read, candidate, policy), { ...candidate, kind: candidate.resource.kind }, policy);
}

/** What the rules say of an object, those of the bundle among them, the schema left out. */
export function judgeByRules(read: Reader, candidate: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { kind, ref } = candidate.resource;
  return withBundle(read.query(findings, kind, ref.namespace, ref.name), read, candidate, policy);
}

function withBundle(found: readonly Finding[], read: Reader, { json, apiVersion, resource: { kind, ref } }: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const more = judgeOfficially(kind, apiVersion, json, policy.bundle).filter((one) => !found.some((other) => isSameMistake(one, other)));
  if (found.length + more.length === 0) return [];
  const ours = read.query(isOurs, kind, ref.namespace, ref.name);
  return [...withEffects(found, policy, ours), ...withBundleEffects(more, policy, ours)];
}

/** Some rules judge every object, and find more than any bundle does. */
function isSameMistake(one: Finding, other: Finding): boolean {
  return one.rule === other.rule && (isWithin(one.path, other.path) || isWithin(other.path, one.path));
}

/** An object as it came, of whatever kind that has a schema. */
export interface WrittenObject {
  readonly kind: SchemaKind;
  readonly apiVersion: string;
  readonly json: unknown;
}

/** What the bundle says of an object of a kind that is not evaluated. */
export function judgeUnevaluated(object: WrittenObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return withStructure(withBundleEffects(judgeOfficially(object.kind, object.apiVersion, object.json, policy.bundle), policy, false), object, policy);
}

/** Where a rule denies, it says what is wrong; the schema would only say once more that something is. */
function withStructure(byRules: readonly JudgedFinding[], object: WrittenObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const explained = new Set(byRules.filter(({ effect }) => effect === 'deny').map(({ path }) => formatPath(path)));
  return [...compareStructure(object, policy).filter(({ path }) => !explained.has(formatPath(path))), ...byRules];
}

/** Whether a finding is of the schema and not of a rule. */
export function isStructural({ rule }: Finding): boolean {
  return rule === schemaRule || rule === unknownFieldRule;
}

/** What the schema of the bundle says of an object. */
function compareStructure({ kind, apiVersion, json }: WrittenObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const found = validateStructure(kind, apiVersion, json, policy.bundle).map((problem) => ({
    rule: problem.keyword === 'unknown' ? unknownFieldRule : schemaRule,
    path: problem.path,
    message: problem.message,
  }));
  return withBundleEffects(found, policy, false);
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
