import { unknownOwnership } from '../graph/ownership.ts';
import type { Reader } from '../incremental/index.ts';
import { lastApplied, prunedFields } from '../rules/objects/field-pruned.ts';
import { judgeChange } from '../rules/official/changes.ts';
import type { WrittenObject } from '../schema/index.ts';
import type { Steps } from '../text/steps.ts';
import { exempted } from './exemption.ts';
import type { AdmissionContext, Change, State } from './gather.ts';
import { breaksSentence, changeOf, impactOf, impactWarnings, readComparing } from './impact.ts';
import type { ChangeFindings } from './judge.ts';
import { withEffects, type JudgedFinding } from './judged-finding.ts';
import type { AdmissionPolicy } from './policy.ts';
import { newFindings } from './ratchet.ts';
import { keyOfRef } from '../resources/reference.ts';

/** The problems of a change. */
export interface Comparison {
  readonly found: readonly JudgedFinding[];
  /** The elements of `found` that the change introduces: the old object did not have them. */
  readonly introduced: readonly JudgedFinding[];
  /** Warnings about other objects that the change breaks. */
  readonly impact: readonly string[];
}

/**
 * The third step: finds out which problems the change introduces, and which other objects it breaks. A change of metadata
 * introduces no problems. It can still break other objects: labels of a Namespace allow routes to attach, and labels of an
 * EndpointSlice name its Service.
 */
export function* compare(
  change: Change,
  { before: earlier, after: found }: ChangeFindings,
  context: AdmissionContext,
): Steps<Comparison> {
  const { before, after, metadataOnly } = change;
  const ofChange = findingsOfChange(change, context.policy);
  const introduced = metadataOnly
    ? []
    : [
        ...(yield* newFindings(
          { json: before.submitted?.json, findings: earlier },
          { json: after.submitted?.json, findings: found },
        )),
        ...ofChange,
      ];
  // A denied change breaks nothing.
  const isDenied = introduced.some(({ effect }) => effect === 'deny');
  return { found: [...found, ...ofChange], introduced, impact: isDenied ? [] : yield* describeImpact(change, context) };
}

/** Finds problems of the change itself. The old object cannot have had them. */
function findingsOfChange(
  { before: { submitted: before }, after: { submitted: after }, metadataOnly }: Change,
  policy: AdmissionPolicy,
): readonly JudgedFinding[] {
  if (after === undefined) return [];
  const ofApply = withEffects(fieldsLostByApply(after, before?.json, policy), policy, unknownOwnership);
  if (before === undefined || metadataOnly) return ofApply;
  const immutable = withEffects(judgeChange(after.kind, before.json, after.json), policy, unknownOwnership);
  return [...exempted(immutable, after.json, policy), ...ofApply];
}

/**
 * Finds fields that the API server dropped from the configuration applied with this write. A client that writes without apply
 * leaves the annotation of the last apply unchanged, and gets no findings.
 */
function fieldsLostByApply(object: WrittenObject, before: unknown, { bundle }: AdmissionPolicy) {
  const applied = lastApplied(object.json);
  return applied === undefined || applied === lastApplied(before) ? [] : prunedFields(object, bundle);
}

function* describeImpact(
  { operation, ref, before, after }: Change,
  { mayContinue }: AdmissionContext,
): Steps<readonly string[]> {
  const self = keyOfRef(ref);
  const present = yield* after.overlay();
  const impact = yield* impactOf(() => readerOf(before), present(), { self, mayContinue });
  const subject = changeOf(operation, ref);
  return impactWarnings(
    subject,
    impact,
    impact.broken.map((broken) => breaksSentence(subject, broken)),
  );
}

function* readerOf({ overlay }: State): Steps<Reader> {
  const present = yield* overlay();
  return yield* readComparing(present());
}
