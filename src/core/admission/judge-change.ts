import { unknownOwnership } from '../graph/ownership.ts';
import { lastApplied, prunedFields } from '../rules/objects/field-pruned.ts';
import { judgeChange } from '../rules/official/changes.ts';
import type { SchemaKind, WrittenObject } from '../schema/index.ts';
import { withEffects, type JudgedFinding } from './judged-finding.ts';
import type { AdmissionPolicy } from './policy.ts';

/** Finds problems of the change from one object to another. Such a finding is always new. */
export function findingsOfChange(
  kind: SchemaKind,
  before: unknown,
  after: unknown,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  return withEffects(judgeChange(kind, before, after), policy, unknownOwnership);
}

/**
 * Finds fields that the API server dropped from the configuration applied with this write. A client that writes without apply
 * leaves the annotation of the last apply unchanged, and gets no findings.
 *
 * @param before the old object, if there is one
 */
export function findingsOfApply(
  object: WrittenObject,
  before: unknown,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  const applied = lastApplied(object.json);
  return applied === undefined || applied === lastApplied(before)
    ? []
    : withEffects(prunedFields(object, policy.bundle), policy, unknownOwnership);
}
