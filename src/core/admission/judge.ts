import { unknownOwnership, type Ownership } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import type { IdentifiedResource } from '../resources/parse.ts';
import type { Resource } from '../resources/resource.ts';
import { judgeByBundle, type JudgedByBundle } from '../rules/engine/judge-by-bundle.ts';
import { findingsOfNewest } from '../rules/objects/refused-later.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { findings } from '../rules/engine/run.ts';
import { findingOfUnserved } from '../rules/support/unserved-kind.ts';
import {
  applyDefaults,
  examinationOf,
  type Bundle,
  type Examination,
  type StructureProblem,
  type WrittenObject,
} from '../schema/index.ts';
import { runToEnd, type Steps } from '../text/steps.ts';
import { ownershipOfObject, ownershipOfWritten } from './ownership.ts';
import { exempted, findingsOfExemption } from './exemption.ts';
import { withBundleEffects, withEffects, type JudgedFinding } from './judged-finding.ts';
import { lostProtectionRule, schemaRule, unknownFieldRule, type AdmissionPolicy } from './policy.ts';
import { tellOnce, withoutRepetition } from './tell-once.ts';

/** An object as submitted, and as read with defaults. */
export interface Candidate {
  readonly json: unknown;
  readonly apiVersion: string;
  readonly resource: Resource;
  /** The result of checking the object against the schema of the policy's bundle. */
  readonly examination: Examination;
}

/**
 * Reads an object as the API server of a bundle stores it: with defaults, and without the fields that the bundle does not have.
 * Reads the body only once if the remaining fields conform to the bundle's schema.
 */
export function candidateOf(identified: IdentifiedResource, json: unknown, bundle: Bundle): Candidate {
  return runToEnd(candidateInSteps(identified, json, bundle));
}

/** Like `candidateOf`, in steps. */
export function* candidateInSteps(
  { kind, apiVersion, read, adopt }: IdentifiedResource,
  json: unknown,
  bundle: Bundle,
): Steps<Candidate> {
  const examination = yield* examinationOf({ kind, apiVersion, json }, bundle);
  const { stored, settled, isWhole } = examination;
  return {
    json,
    apiVersion,
    resource:
      isWhole && typeof stored === 'object' ? adopt(stored) : read(settled ?? applyDefaults(kind, json, bundle)),
    examination,
  };
}

/**
 * Returns all findings about one object: its structure by the schema of the bundle, then the rules. The webhook and the command
 * line both call this, so they report the same with the same policy.
 */
export function judge(read: Reader, candidate: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return runToEnd(judgement(() => read, candidate, policy));
}

/** Like `judge`, in steps. The state may change between steps. */
export function* judgement(
  present: () => Reader,
  candidate: Candidate,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const { kind, ref } = candidate.resource;
  const found = present().query(findings, kind, ref.namespace, ref.name);
  yield;
  return yield* judgementWith(found, present, candidate, policy);
}

/** Like `judge`, with given findings of the rules other than the bundle's. */
export function judgeWith(
  found: readonly Finding[],
  read: Reader,
  candidate: Candidate,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  return runToEnd(judgementWith(found, () => read, candidate, policy));
}

function* judgementWith(
  found: readonly Finding[],
  present: () => Reader,
  candidate: Candidate,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const {
    json,
    apiVersion,
    resource: { kind, ref },
    examination,
  } = candidate;
  const { official, unenforced } = yield* judgeExamined({ kind, apiVersion, json }, examination, policy.bundle);
  yield;
  const bySchema = structural(examination.problems, policy);
  if (found.length + official.length + unenforced.length === 0) return withExemption(bySchema, json, policy);
  const owners = ownershipOfObject(present(), ref);
  const judged = judgedTogether({ linked: found, official, unenforced }, policy, owners);
  yield;
  return withExemption(tellOnce(bySchema, judged, json), json, policy);
}

/** Returns all findings about an object of a kind that is not evaluated, and therefore not served. */
export function judgeUnevaluated(
  read: Reader,
  object: WrittenObject,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  return runToEnd(unevaluatedJudgement(() => read, object, policy));
}

/** Like `judgeUnevaluated`, in steps. The state may change between steps. */
export function* unevaluatedJudgement(
  present: () => Reader,
  object: WrittenObject,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const examination = yield* examinationOf(object, policy.bundle);
  const byBundle = yield* judgeExamined(object, examination, policy.bundle);
  yield;
  const owners = ownershipOfWritten(present(), object, examination.stored);
  const linked = [findingOfUnserved(object.kind)];
  const judged = judgedTogether({ linked, ...byBundle }, policy, owners);
  const told = tellOnce(structural(examination.problems, policy), judged, object.json);
  return withExemption(told, object.json, policy);
}

function withExemption(
  judged: readonly JudgedFinding[],
  json: unknown,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  const invalid = findingsOfExemption(json, policy);
  const rest = exempted(judged, json, policy);
  return invalid.length === 0 ? rest : [...rest, ...invalid];
}

interface Found extends JudgedByBundle {
  /** Findings of rules about linked objects. */
  readonly linked: readonly Finding[];
}

/** Combines findings of rules that run in more than one way with the same result. The first finding that has an effect is kept. */
function judgedTogether(
  { linked, official, unenforced }: Found,
  policy: AdmissionPolicy,
  owners: Ownership,
): readonly JudgedFinding[] {
  const judged = withEffects(linked, policy, owners);
  const refused = withBundleEffects(withoutRepetition(judged, official), policy, owners);
  return [
    ...judged,
    ...refused,
    ...withEffects(withoutRepetition([...judged, ...refused], unenforced), policy, owners),
  ];
}

function* judgeExamined(object: WrittenObject, examination: Examination, bundle: Bundle): Steps<JudgedByBundle> {
  const { official, unenforced } = judgeByBundle(object, examination, bundle);
  yield;
  return {
    official,
    unenforced: [...unenforced, ...(yield* findingsOfNewest(object, bundle, [...official, ...examination.problems]))],
  };
}

/** Findings of the bundle's schema. */
function structural(problems: readonly StructureProblem[], policy: AdmissionPolicy): readonly JudgedFinding[] {
  if (problems.length === 0) return [];
  const found = problems.map((problem): Finding => ({
    rule: structuralRule(problem),
    path: problem.path,
    message: problem.message,
  }));
  return withBundleEffects(found, policy, unknownOwnership);
}

function structuralRule({ keyword, lost }: StructureProblem): string {
  if (keyword !== 'unknown') return schemaRule;
  return lost === undefined ? unknownFieldRule : lostProtectionRule;
}
