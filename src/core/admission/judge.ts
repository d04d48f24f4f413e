import { unknownOwnership, type Ownership } from '../graph/ownership.ts';
import type { Overlay } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { judgementByBundle, type JudgedByBundle } from '../rules/engine/judge-by-bundle.ts';
import { findingsOfNewest } from '../rules/objects/refused-later.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { findings } from '../rules/engine/run.ts';
import { findingOfUnserved } from '../rules/support/unserved-kind.ts';
import type { Bundle, StructureProblem, WrittenObject } from '../schema/index.ts';
import { runToEnd, type Steps } from '../text/steps.ts';
import { ownershipOfObject, ownershipOfWritten } from './ownership.ts';
import { examinedInSteps, type ExaminedObject } from './candidate.ts';
import { exempted, findingsOfExemption } from './exemption.ts';
import type { Change, State } from './gather.ts';
import { withBundleEffects, withEffects, type JudgedFinding } from './judged-finding.ts';
import { lostProtectionRule, schemaRule, unknownFieldRule, type AdmissionPolicy } from './policy.ts';
import { mergeFindings, withoutKnown } from './merge-findings.ts';

/** The findings about the two objects of a change. */
export interface ChangeFindings {
  /** Empty if they do not matter. */
  readonly before: readonly JudgedFinding[];
  readonly after: readonly JudgedFinding[];
}

/** The second step: judges the new object, and the old one if its problems matter for the decision. */
export function* judgeChanged({ before, after, metadataOnly }: Change, policy: AdmissionPolicy): Steps<ChangeFindings> {
  if (metadataOnly) return { before: [], after: findingsOfExemption(after.submitted?.json, policy) };
  const found = yield* judgeState(after, policy);
  yield;
  // Earlier problems matter only for a denial, or for a finding that the profile `audit` withholds. Most changes have neither.
  const matter = found.some(({ effect, withheld }) => effect === 'deny' || withheld);
  const earlier = matter ? yield* judgeState(before, policy) : [];
  yield;
  return { before: earlier, after: found };
}

function* judgeState({ stored, overlay }: State, policy: AdmissionPolicy): Steps<readonly JudgedFinding[]> {
  const object = yield* stored();
  if (object === undefined) return [];
  yield;
  const present = yield* overlay();
  yield* compareIndexes(present);
  return yield* judgement(() => present().read, object, policy);
}

/** A change of the kernel makes the comparison of indexes useless. After so many, the rest is a single step, so that reviews end. */
const maxComparisons = 5;

/** The findings read indexes. A new route may affect what very many others contribute to them. */
function* compareIndexes(present: () => Overlay): Steps<void> {
  for (let count = 0; count < maxComparisons; count += 1) {
    if (yield* present().indexesInSteps(findings)) return;
  }
}

/**
 * Returns all findings about one object: its structure by the schema of the bundle, then the rules. The webhook and the command
 * line both call this, so they report the same with the same policy.
 */
export function judge(read: Reader, object: ExaminedObject, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return runToEnd(judgement(() => read, object, policy));
}

/** Like `judge`, in steps. The state may change between steps. */
export function* judgement(
  present: () => Reader,
  object: ExaminedObject,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const linked = findingsOfRules(present, object);
  yield;
  return yield* judgementWith(linked, present, object, policy);
}

function findingsOfRules(present: () => Reader, { kind, resource }: ExaminedObject): readonly Finding[] {
  return resource === undefined
    ? [findingOfUnserved(kind)]
    : present().query(findings, kind, resource.ref.namespace, resource.ref.name);
}

/** Like `judge`, with given findings of the rules other than the bundle's. */
export function judgeWith(
  linked: readonly Finding[],
  read: Reader,
  object: ExaminedObject,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  return runToEnd(judgementWith(linked, () => read, object, policy));
}

/** Like `judge`, for an object of a kind that is not evaluated, and therefore not served. */
export function judgeUnevaluated(
  read: Reader,
  object: WrittenObject,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  return judge(read, runToEnd(examinedInSteps(object, policy.bundle)), policy);
}

function* judgementWith(
  linked: readonly Finding[],
  present: () => Reader,
  object: ExaminedObject,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const { json, examination, resource } = object;
  const { official, unenforced } = yield* judgeExamined(linked, object, policy.bundle);
  yield;
  const bySchema = structural(examination.problems, policy);
  if (linked.length + official.length + unenforced.length === 0) return withExemption(bySchema, json, policy);
  const owners =
    resource === undefined
      ? ownershipOfWritten(present(), object, examination.stored)
      : ownershipOfObject(present(), resource.ref);
  const judged = judgedTogether({ linked, official, unenforced }, policy, owners);
  yield;
  return withExemption(mergeFindings(bySchema, judged, json), json, policy);
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
  const refused = withBundleEffects(withoutKnown(judged, official), policy, owners);
  return [...judged, ...refused, ...withEffects(withoutKnown([...judged, ...refused], unenforced), policy, owners)];
}

/** An object with as many findings is not judged by the newest bundle as well. They must be fixed first, which needs another review. */
const enoughFindings = 200;

function* judgeExamined(linked: readonly Finding[], object: ExaminedObject, bundle: Bundle): Steps<JudgedByBundle> {
  const { examination } = object;
  const { official, unenforced } = yield* judgementByBundle(object, examination, bundle);
  yield;
  const refused = [...official, ...examination.problems];
  if (linked.length + refused.length >= enoughFindings) return { official, unenforced };
  return { official, unenforced: [...unenforced, ...(yield* findingsOfNewest(object, bundle, refused))] };
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
