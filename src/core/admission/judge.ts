import { isOurs } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import { formatPath } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
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
  const byRules = judgeByRules(read, candidate, policy);
  // Where a rule denies, it says what is wrong; the schema would only say once more that something is.
  const explained = new Set(byRules.filter(({ effect }) => effect === 'deny').map(({ path }) => formatPath(path)));
  const byStructure = judgeStructure({ ...candidate, kind: candidate.resource.kind }, policy).filter(({ path }) => !explained.has(formatPath(path)));
  return [...byStructure, ...byRules];
}

/** What the rules say of an object, the schema left out. */
export function judgeByRules(read: Reader, { resource: { kind, ref } }: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const found = read.query(findings, kind, ref.namespace, ref.name);
  return found.length === 0 ? [] : withEffects(found, policy, read.query(isOurs, kind, ref.namespace, ref.name));
}

/** Whether a finding is of the schema and not of a rule. */
export function isStructural({ rule }: Finding): boolean {
  return rule === schemaRule || rule === unknownFieldRule;
}

/** What the schema of the bundle says of an object, of a kind that is not evaluated, too. */
export function judgeStructure(object: { readonly kind: SchemaKind; readonly apiVersion: string; readonly json: unknown }, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const found = validateStructure(object.kind, object.apiVersion, object.json, policy.bundle).map((problem) => ({
    rule: problem.keyword === 'unknown' ? unknownFieldRule : schemaRule,
    path: problem.path,
    message: problem.message,
  }));
  return withEffects(found, policy, false);
}

function withEffects(found: readonly Finding[], policy: AdmissionPolicy, ours: boolean): readonly JudgedFinding[] {
  return found.flatMap((finding) => {
    const effect = effectOf(finding.rule, policy, ours);
    return effect === 'none' ? [] : [{ ...finding, effect, withheld: isWithheld(finding.rule, policy, ours) }];
  });
}
