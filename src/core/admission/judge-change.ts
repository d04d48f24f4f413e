import { judgeChange } from '../rules/official/changes.ts';
import type { SchemaKind } from '../schema/index.ts';
import type { JudgedFinding } from './judge.ts';
import { effectOf, isWithheld, type AdmissionPolicy } from './policy.ts';

/** What is wrong with the change from one object to another. Such a finding is always new. */
export function findingsOfChange(kind: SchemaKind, before: unknown, after: unknown, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return judgeChange(kind, before, after).flatMap((finding) => {
    const effect = effectOf(finding.rule, policy, false);
    return effect === 'none' ? [] : [{ ...finding, effect, withheld: isWithheld(finding.rule, policy, false) }];
  });
}
