import { isOurs } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import type { IdentifiedResource } from '../resources/parse.ts';
import { isWithin } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { judgeByBundle, type JudgedByBundle } from '../rules/judge-by-bundle.ts';
import { findingsOfNewest } from '../rules/refused-later.ts';
import type { Effect, Finding } from '../rules/rule.ts';
import { findings } from '../rules/run.ts';
import { applyDefaults, examine, type Bundle, type Examination, type StructureProblem, type WrittenObject } from '../schema/index.ts';
import { effectOf, isWithheld, lostProtectionRule, schemaRule, unknownFieldRule, type AdmissionPolicy } from './policy.ts';
import { tellOnce } from './tell-once.ts';

/** One object as it came, and as it was read, with defaults. */
export interface Candidate {
  readonly json: unknown;
  readonly apiVersion: string;
  readonly resource: Resource;
  /** What the schema of the policy's bundle makes of it. */
  readonly examination: Examination;
}

/** Reads the body of an object, with the defaults of a bundle: once, where it is as the bundle's schema says. */
export function candidateOf({ kind, apiVersion, read, adopt }: IdentifiedResource, json: unknown, bundle: Bundle): Candidate {
  const examination = examine({ kind, apiVersion, json }, bundle);
  const { stored, isWhole } = examination;
  return { json, apiVersion, resource: isWhole && typeof stored === 'object' ? adopt(stored) : read(applyDefaults(kind, json, bundle)), examination };
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
export function judgeWith(found: readonly Finding[], read: Reader, candidate: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { json, apiVersion, resource: { kind, ref }, examination } = candidate;
  const { official, unenforced } = judgeExamined({ kind, apiVersion, json }, examination, policy.bundle);
  const refused = withoutRepetition(found, official);
  const others = withoutRepetition([...found, ...refused], unenforced);
  const bySchema = structural(examination.problems, policy);
  if (found.length + refused.length + others.length === 0) return bySchema;
  const ours = read.query(isOurs, kind, ref.namespace, ref.name);
  const judged = [...withEffects(found, policy, ours), ...withBundleEffects(refused, policy, ours), ...withEffects(others, policy, ours)];
  return tellOnce(bySchema, judged, json);
}

/** What is to be said about an object of a kind that is not evaluated. */
export function judgeUnevaluated(object: WrittenObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const examination = examine(object, policy.bundle);
  const { official, unenforced } = judgeExamined(object, examination, policy.bundle);
  const judged = [...withBundleEffects(official, policy, false), ...withEffects(withoutRepetition(official, unenforced), policy, false)];
  return tellOnce(structural(examination.problems, policy), judged, object.json);
}

function judgeExamined(object: WrittenObject, examination: Examination, bundle: Bundle): JudgedByBundle {
  const { official, unenforced } = judgeByBundle(object, examination, bundle);
  return { official, unenforced: [...unenforced, ...findingsOfNewest(object, bundle, [...official, ...examination.problems])] };
}

/** Some rules are asked in more than one way, which find the same. */
function withoutRepetition(known: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  return more.filter((one) => !known.some((other) => isSameMistake(one, other)));
}

function isSameMistake(one: Finding, other: Finding): boolean {
  return one.rule === other.rule && (isWithin(one.path, other.path) || isWithin(other.path, one.path));
}

/** What the schema of the bundle says. */
function structural(problems: readonly StructureProblem[], policy: AdmissionPolicy): readonly JudgedFinding[] {
  if (problems.length === 0) return [];
  const found = problems.map((problem): Finding => ({ rule: structuralRule(problem), path: problem.path, message: problem.message }));
  return withBundleEffects(found, policy, false);
}

function structuralRule({ keyword, lost }: StructureProblem): string {
  if (keyword !== 'unknown') return schemaRule;
  return lost === undefined ? unknownFieldRule : lostProtectionRule;
}

/** The effects of what the bundle refuses. Where it is a guess which bundle that is, only an override makes it a denial. */
function withBundleEffects(found: readonly Finding[], policy: AdmissionPolicy, ours: boolean): readonly JudgedFinding[] {
  const judged = withEffects(found, policy, ours);
  if (policy.guessed !== true) return judged;
  return judged.map((finding) => (Object.hasOwn(policy.overrides, finding.rule) ? finding : { ...finding, effect: finding.effect === 'deny' ? 'warn' : finding.effect, withheld: false }));
}

/** What admission does with findings; those without effect are left out. `ours`: whether everything the object attaches to is ours. */
export function withEffects(found: readonly Finding[], policy: AdmissionPolicy, ours: boolean): readonly JudgedFinding[] {
  return found.flatMap((finding) => {
    const effect = effectOf(finding.rule, policy, ours);
    return effect === 'none' ? [] : [{ ...finding, effect, withheld: isWithheld(finding.rule, policy, ours) }];
  });
}
