import { judgeChange } from '../rules/official/changes.ts';
import type { Candidate, JudgedFinding } from './judge.ts';
import { effectOf, isWithheld, type AdmissionPolicy } from './policy.ts';

/** What is wrong with the change from one object to another. Such a finding is always new. */
export function findingsOfChange(before: Candidate, after: Candidate, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return judgeChange(after.resource.kind, before.json, after.json).flatMap((finding) => {
    const effect = effectOf(finding.rule, policy, false);
    return effect === 'none' ? [] : [{ ...finding, effect, withheld: isWithheld(finding.rule, policy, false) }];
  });
}
