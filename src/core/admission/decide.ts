import { objectCell } from '../graph/inputs.ts';
import { unknownOwnership } from '../graph/ownership.ts';
import { write, type Kernel, type Overlay, type Reader } from '../incremental/index.ts';
import { identifyObject } from '../resources/parse.ts';
import { quoteRef, type ObjectRef } from '../resources/reference.ts';
import { causesOf, shortPath } from './causes.ts';
import { exempted, findingsOfExemption } from './exemption.ts';
import { breaksSentence, changeOf, impactOf, impactWarnings, overlayWith } from './impact.ts';
import { findKind, isSchemaKind, judgedGroups, type WrittenObject } from '../schema/index.ts';
import { candidateInSteps, judgement, unevaluatedJudgement, type Candidate } from './judge.ts';
import { withEffects, type JudgedFinding } from './judged-finding.ts';
import { findingsOfApply, findingsOfChange } from './judge-change.ts';
import { schemaRule, type AdmissionPolicy } from './policy.ts';
import { newFindings, sameJson } from './ratchet.ts';
import { onceInSteps, runToEnd, type Steps } from '../text/steps.ts';
import type { AdmissionRequest, AdmissionVerdict, CountedFinding } from './types.ts';

export interface AdmissionContext {
  readonly kernel: Kernel;
  readonly policy: AdmissionPolicy;
  /** Called between steps of optional work. Returns false when the time budget of the request is used up. */
  readonly mayContinue: () => boolean;
}

/**
 * Judges one write on an overlay of the current state. Nothing is written, so a dry run needs no special case. Never denies an
 * object that is being deleted, a change of status or metadata only, or a problem that the old object already had.
 */
export function decideAdmission(request: AdmissionRequest, context: AdmissionContext): AdmissionVerdict {
  return runToEnd(decisionOf(request, context));
}

/** Like `decideAdmission`, in steps. The kernel may apply writes between steps. */
export function* decisionOf(request: AdmissionRequest, context: AdmissionContext): Steps<AdmissionVerdict> {
  if (request.subResource !== '' || request.operation === 'CONNECT') return allowed([]);
  const before = readSubmitted(request, request.oldObject, context.policy);
  if (request.operation === 'DELETE')
    return before === undefined ? allowed([]) : yield* decideDeletion(before, context);

  if (request.unread !== undefined) return decideUnread(request, request.unread, context.policy);
  const submitted = readSubmitted(request, request.object, context.policy);
  if (submitted === undefined) return yield* decideUnevaluated(request, context);
  if (submitted.deleting) return allowed([]);
  const { ref, object: after } = submitted;
  const { policy } = context;
  const candidate = yield* submitted.candidate();
  yield;
  const present = overlaysOf(context, ref, candidate);
  // Most changes are fine and do not need the previous state.
  const previous = onceInSteps(function* previously() {
    return overlaysOf(context, ref, before === undefined ? undefined : yield* before.candidate());
  });
  const created: Creation = {
    ref,
    after,
    judge: () => judgement(() => present().read, candidate, policy),
    impact: () =>
      describeImpact(
        { operation: before === undefined ? 'CREATE' : 'UPDATE', ref, before: previous, after: present },
        context,
      ),
  };
  if (before === undefined) return yield* decideCreation(created, policy);
  return yield* decideUpdate(
    {
      ...created,
      before: before.object,
      *judgeBefore() {
        const overlay = yield* previous();
        return yield* judgement(() => overlay().read, yield* before.candidate(), policy);
      },
    },
    policy,
  );
}

/** Denies a custom resource that is too large to read. Otherwise its size would be a way around validation. */
function decideUnread(
  { group, kind, namespace, name }: AdmissionRequest,
  problem: string,
  policy: AdmissionPolicy,
): AdmissionVerdict {
  const entry = findKind(group, kind);
  if (entry === undefined || !judgedGroups.includes(group)) return allowed([]);
  const found = withEffects([{ rule: schemaRule, path: [], message: problem }], policy, unknownOwnership);
  return verdict({ group, kind, namespace, name }, { fresh: found, found, impact: [] });
}

/** Kinds that are not evaluated are judged on their own, because no other object depends on them. */
function* decideUnevaluated(request: AdmissionRequest, { kernel, policy }: AdmissionContext): Steps<AdmissionVerdict> {
  const [before, after] = [readUnevaluated(request, request.oldObject), readUnevaluated(request, request.object)];
  if (after === undefined || after.deleting) return allowed([]);
  const created: Creation = {
    ref: after.ref,
    after: after.object,
    judge: () => unevaluatedJudgement(() => kernel.read, after.object, policy),
    impact: noImpact,
  };
  if (before === undefined) return yield* decideCreation(created, policy);
  return yield* decideUpdate(
    {
      ...created,
      before: before.object,
      judgeBefore: () => unevaluatedJudgement(() => kernel.read, before.object, policy),
    },
    policy,
  );
}

function* noImpact(): Steps<readonly string[]> {
  yield;
  return [];
}

interface Creation {
  readonly ref: ObjectRef;
  readonly after: WrittenObject;
  readonly judge: () => Steps<readonly JudgedFinding[]>;
  /** The effects on other objects, as warnings. */
  readonly impact: () => Steps<readonly string[]>;
}

interface Update extends Creation {
  readonly before: WrittenObject;
  readonly judgeBefore: () => Steps<readonly JudgedFinding[]>;
}

function* decideCreation(
  { ref, after, judge: judgeAfter, impact }: Creation,
  policy: AdmissionPolicy,
): Steps<AdmissionVerdict> {
  const judged = yield* judgeAfter();
  yield;
  const found = [...judged, ...findingsOfApply(after, undefined, policy)];
  return verdict(ref, { fresh: found, found, impact: isDenied(found) ? [] : yield* impact() });
}

function isDenied(fresh: readonly JudgedFinding[]): boolean {
  return fresh.some(({ effect }) => effect === 'deny');
}

function* decideUpdate(
  { ref, before, after, judge: judgeAfter, judgeBefore, impact }: Update,
  policy: AdmissionPolicy,
): Steps<AdmissionVerdict> {
  const ofApply = findingsOfApply(after, before.json, policy);
  // Labels can still break other objects: labels of a Namespace allow routes to attach, and labels of an EndpointSlice name its Service.
  if (sameSpec(before.json, after.json))
    return verdict(ref, {
      fresh: [],
      found: [...findingsOfExemption(after.json, policy), ...ofApply],
      impact: yield* impact(),
    });
  yield;
  const found = yield* judgeAfter();
  yield;
  // Earlier problems matter only for a denial, or for a finding that the profile `audit` withholds. Most changes have neither.
  const earlier = found.some(({ effect, withheld }) => effect === 'deny' || withheld) ? yield* judgeBefore() : [];
  yield;
  const changes = findingsOfChange(after.kind, before.json, after.json, policy);
  const ofChange = [...exempted(changes, after.json, policy), ...ofApply];
  const fresh = [
    ...newFindings({ candidate: before, findings: earlier }, { candidate: after, findings: found }),
    ...ofChange,
  ];
  // A denied change breaks nothing.
  return verdict(ref, { fresh, found: [...found, ...ofChange], impact: isDenied(fresh) ? [] : yield* impact() });
}

interface Unevaluated {
  readonly ref: ObjectRef;
  readonly object: WrittenObject;
  readonly deleting: boolean;
}

function readUnevaluated(request: AdmissionRequest, json: unknown): Unevaluated | undefined {
  const identified = identifyObject(named(request, json));
  if (
    identified.type !== 'unserved' ||
    identified.ref.kind !== request.kind ||
    identified.ref.group !== request.group ||
    !isSchemaKind(identified.ref.kind)
  )
    return undefined;
  const { ref, apiVersion, deleting } = identified;
  return { ref, object: { kind: identified.ref.kind, apiVersion, json }, deleting };
}

function* decideDeletion({ ref, candidate }: Submitted, context: AdmissionContext): Steps<AdmissionVerdict> {
  const before = onceInSteps(function* present() {
    return overlaysOf(context, ref, yield* candidate());
  });
  return allowed(
    yield* describeImpact({ operation: 'DELETE', ref, before, after: overlaysOf(context, ref, undefined) }, context),
  );
}

/** An object of a request, of a kind that is evaluated. */
interface Submitted {
  readonly ref: ObjectRef;
  readonly object: WrittenObject;
  readonly deleting: boolean;
  readonly candidate: () => Steps<Candidate>;
}

function readSubmitted(request: AdmissionRequest, json: unknown, { bundle }: AdmissionPolicy): Submitted | undefined {
  const identified = identifyObject(named(request, json));
  // A crafted request could name one kind and contain another. Such an object is not judged.
  if (identified.type !== 'resource' || identified.kind !== request.kind || identified.ref.group !== request.group)
    return undefined;
  const { kind, ref, apiVersion, deleting } = identified;
  return {
    ref,
    object: { kind, apiVersion, json },
    deleting,
    candidate: onceInSteps(() => candidateInSteps(identified, json, bundle)),
  };
}

/** Takes the identity from the request: with generateName, an object has no name yet at this point. */
function named(request: AdmissionRequest, json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  const metadata: unknown = (json as { metadata?: unknown }).metadata;
  const own = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
  const prefix = typeof own['generateName'] === 'string' ? own['generateName'] : '';
  const name = own['name'] ?? (request.name === '' ? `${prefix}*` : request.name);
  return { ...json, metadata: { ...own, name, namespace: own['namespace'] ?? request.namespace } };
}

function sameSpec(before: unknown, after: unknown): boolean {
  return sameJson(withoutMetadata(before), withoutMetadata(after));
}

function withoutMetadata(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  const { metadata: _metadata, status: _status, ...rest } = json as Record<string, unknown>;
  return rest;
}

/** Returns the overlay with the candidate in place. */
function overlaysOf({ kernel }: AdmissionContext, ref: ObjectRef, candidate: Candidate | undefined): () => Overlay {
  return overlayWith(kernel, [write(objectCell, [ref.kind, ref.namespace, ref.name], candidate?.resource)]);
}

interface Change {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly ref: ObjectRef;
  readonly before: () => Steps<() => Overlay>;
  readonly after: () => Overlay;
}

function* describeImpact(
  { operation, ref, before, after }: Change,
  { mayContinue }: AdmissionContext,
): Steps<readonly string[]> {
  const self = `${ref.kind}/${ref.namespace}/${ref.name}`;
  const beforehand = function* read(): Steps<Reader> {
    const overlay = yield* before();
    return overlay().read;
  };
  const impact = yield* impactOf(beforehand, after(), { self, mayContinue });
  const subject = changeOf(operation, ref);
  return impactWarnings(
    subject,
    impact,
    impact.broken.map((broken) => breaksSentence(subject, broken)),
  );
}

interface Judged {
  readonly found: readonly JudgedFinding[];
  /** The elements of `found` that the old object did not have. */
  readonly fresh: readonly JudgedFinding[];
  readonly impact: readonly string[];
}

function verdict(ref: ObjectRef, { found, fresh, impact }: Judged): AdmissionVerdict {
  const isNew = new Set(fresh);
  const denying = fresh.filter((finding) => finding.effect === 'deny');
  const rest = found.filter((finding) => !(isNew.has(finding) && finding.effect === 'deny'));
  const warnings = [...rest.filter((finding) => finding.effect !== 'record').map(warningOf), ...impact];
  const counted = [...denying, ...rest].map((finding): CountedFinding => ({
    rule: finding.rule,
    mode: modeOf(finding, isNew),
  }));
  const remarks = { warnings, findings: counted, auditAnnotations: annotations(counted) };
  const [first, ...others] = causesOf(denying);
  if (first === undefined) return { allowed: true, ...remarks };
  const count = denying.length;
  const message = `${quoteRef(ref)} has ${count} problem${count === 1 ? '' : 's'}: ${[first, ...others].map((cause) => `${cause.field}: ${cause.message}`).join('; ')}`;
  return { allowed: false, causes: [first, ...others], message, ...remarks };
}

function allowed(warnings: readonly string[]): AdmissionVerdict {
  return { allowed: true, warnings, findings: [], auditAnnotations: {} };
}

function warningOf(finding: JudgedFinding): string {
  const { rule, path, message, exemption } = finding;
  // At the beginning, because the API server shortens long warnings.
  const exempt = exemption === undefined ? '' : `Exempt until ${exemption.until}: `;
  return `[${rule}] ${shortPath(path)}: ${exempt}${message}`;
}

function modeOf(finding: JudgedFinding, fresh: ReadonlySet<JudgedFinding>): CountedFinding['mode'] {
  if (finding.exemption !== undefined) return 'exempt';
  if (fresh.has(finding)) return finding.withheld ? 'would-deny' : finding.effect;
  return finding.effect === 'deny' ? 'tolerate' : finding.effect;
}

const annotationKeys: Readonly<Record<CountedFinding['mode'], string>> = {
  deny: 'denied',
  warn: 'warned',
  tolerate: 'tolerated',
  record: 'recorded',
  'would-deny': 'would-deny',
  // The key `exempt` marks writes that are not validated at all.
  exempt: 'exempted',
};

/** Groups the rule ids of findings by mode (denied, would be denied, warned, recorded), so that audit logs can be searched. */
function annotations(counted: readonly CountedFinding[]): Readonly<Record<string, string>> {
  const byMode = Map.groupBy(counted, ({ mode }) => mode);
  return Object.fromEntries(
    [...byMode].map(([mode, found]) => [
      annotationKeys[mode],
      [...new Set(found.map(({ rule }) => rule))].sort().join(','),
    ]),
  );
}
