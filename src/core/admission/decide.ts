import { unknownOwnership } from '../graph/ownership.ts';
import { findKind, judgedGroups } from '../schema/index.ts';
import { runToEnd, type Steps } from '../text/steps.ts';
import { compare } from './compare.ts';
import { gather, isJudged, type AdmissionContext } from './gather.ts';
import { judgeChanged } from './judge.ts';
import { withEffects } from './judged-finding.ts';
import { schemaRule, type AdmissionPolicy } from './policy.ts';
import type { AdmissionRequest, AdmissionVerdict } from './types.ts';
import { admitted, verdictOf } from './verdict.ts';

/**
 * Decides one write on an overlay of the current state: gather, judge, compare, verdict. Nothing is written, so a dry run needs no
 * special case. Never denies an object that is being deleted, a change of status or metadata only, or a problem that the old
 * object already had.
 */
export function decideAdmission(request: AdmissionRequest, context: AdmissionContext): AdmissionVerdict {
  return runToEnd(decisionOf(request, context));
}

/** Like `decideAdmission`, in steps. The kernel may apply writes between steps. */
export function* decisionOf(request: AdmissionRequest, context: AdmissionContext): Steps<AdmissionVerdict> {
  if (!isJudged(request)) return admitted();
  if (request.unread !== undefined && request.operation !== 'DELETE')
    return decideUnread(request, request.unread, context.policy);
  const change = gather(request, context);
  if (change === undefined) return admitted();
  const findings = yield* judgeChanged(change, context.policy);
  const comparison = yield* compare(change, findings, context);
  return verdictOf(change.ref, comparison);
}

/** Denies a custom resource that is too large to read. Otherwise its size would be a way around validation. */
function decideUnread(
  { group, kind, namespace, name }: AdmissionRequest,
  problem: string,
  policy: AdmissionPolicy,
): AdmissionVerdict {
  const entry = findKind(group, kind);
  if (entry === undefined || !judgedGroups.includes(group)) return admitted();
  const found = withEffects([{ rule: schemaRule, path: [], message: problem }], policy, unknownOwnership);
  return verdictOf({ group, kind, namespace, name }, { found, introduced: found, impact: [] });
}
