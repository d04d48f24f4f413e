import { objectCell } from '../graph/inputs.ts';
import { write, type Kernel, type Overlay } from '../incremental/index.ts';
import { identifyObject, type IdentifiedObject } from '../resources/parse.ts';
import type { ObjectRef } from '../resources/reference.ts';
import { isKindName, isSchemaKind, type WrittenObject } from '../schema/index.ts';
import { sameJson } from '../text/compare-json.ts';
import { isRecord } from '../text/record.ts';
import { onceInSteps, type Steps } from '../text/steps.ts';
import { readInSteps, type ExaminedObject } from './candidate.ts';
import { overlayWith } from './impact.ts';
import type { AdmissionPolicy } from './policy.ts';
import type { AdmissionRequest } from './types.ts';

/** The state that a request is decided in. */
export interface AdmissionContext {
  readonly kernel: Kernel;
  readonly policy: AdmissionPolicy;
  /** Called between steps of optional work. Returns false when the time budget of the request is used up. */
  readonly mayContinue: () => boolean;
}

/** The change of one object by a request, with the objects that its judgement needs. */
export interface Change {
  /** CREATE if there is no old object, whatever the request says. */
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly ref: ObjectRef;
  readonly before: State;
  readonly after: State;
  /** Both objects exist and differ at most in metadata and status. */
  readonly metadataOnly: boolean;
}

/** The object and the cluster before a change, or after it. Read on demand: most changes do not need the state before. */
export interface State {
  /** The object as submitted. Absent before it is created, and after it is deleted. */
  readonly submitted?: WrittenObject;
  /** Reads the object as the API server stores it, once; `undefined` if it is absent. */
  readonly stored: () => Steps<ExaminedObject | undefined>;
  /** Returns the evaluation with the object in place. It is created again if the kernel has applied writes since. */
  readonly overlay: () => Steps<() => Overlay>;
}

/** Rules do not apply to status, which other controllers own, or to CONNECT. */
export function isJudged({ subResource, operation }: AdmissionRequest): boolean {
  return subResource === '' && operation !== 'CONNECT';
}

/**
 * The first step: identifies the objects of a request. Returns `undefined` if there is nothing to judge: an object of another kind,
 * or one that is being deleted.
 */
export function gather(request: AdmissionRequest, context: AdmissionContext): Change | undefined {
  const { operation, object, oldObject } = request;
  const before = identify(request, oldObject);
  const after = operation === 'DELETE' ? undefined : identify(request, object);
  const subject = operation === 'DELETE' ? before : after;
  if (subject === undefined || after?.deleting === true) return undefined;
  const { ref } = subject;
  const [own, old] = [after?.submitted, before?.submitted];
  return {
    operation: own === undefined ? 'DELETE' : old === undefined ? 'CREATE' : 'UPDATE',
    ref,
    before: stateWith(before, ref, context),
    after: stateWith(after, ref, context),
    metadataOnly: old !== undefined && own !== undefined && sameSpec(old.json, own.json),
  };
}

/** An object of a request whose body has not been read. */
interface Identified {
  readonly identified: IdentifiedObject;
  readonly ref: ObjectRef;
  readonly deleting: boolean;
  readonly submitted: WrittenObject;
}

function identify(request: AdmissionRequest, json: unknown): Identified | undefined {
  const identified = identifyObject(named(request, json));
  if (identified.type !== 'resource' && identified.type !== 'unserved') return undefined;
  const { ref, apiVersion, deleting } = identified;
  const { kind } = ref;
  // A crafted request could name one kind and contain another. Such an object is not judged.
  if (kind !== request.kind || ref.group !== request.group || !isSchemaKind(kind)) return undefined;
  return { identified, ref, deleting, submitted: { kind, apiVersion, json } };
}

/**
 * What identifies an object. The identity is that of the request: with generateName, an object has no name yet at this point. All other
 * fields are left out, because a copy of an object with many of them takes long.
 */
function named(request: AdmissionRequest, json: unknown): unknown {
  if (!isRecord(json)) return json;
  const { apiVersion, kind, metadata } = json;
  const own = isRecord(metadata) ? metadata : {};
  const prefix = typeof own['generateName'] === 'string' ? own['generateName'] : '';
  const name = own['name'] ?? (request.name === '' ? `${prefix}*` : request.name);
  return { apiVersion, kind, metadata: { ...own, name, namespace: own['namespace'] ?? request.namespace } };
}

function stateWith(own: Identified | undefined, ref: ObjectRef, { kernel, policy }: AdmissionContext): State {
  const stored = onceInSteps(() => readStored(own, policy));
  const overlay = onceInSteps(() => overlayInSteps(kernel, ref, stored));
  return { ...(own && { submitted: own.submitted }), stored, overlay };
}

function* readStored(own: Identified | undefined, { bundle }: AdmissionPolicy): Steps<ExaminedObject | undefined> {
  return own && (yield* readInSteps(own.identified, own.submitted.json, bundle));
}

function* overlayInSteps(
  kernel: Kernel,
  { kind, namespace, name }: ObjectRef,
  stored: State['stored'],
): Steps<() => Overlay> {
  // No other object depends on an object whose kind is not evaluated.
  if (!isKindName(kind)) return overlayWith(kernel, []);
  return overlayWith(kernel, [write(objectCell, [kind, namespace, name], (yield* stored())?.resource)]);
}

function sameSpec(before: unknown, after: unknown): boolean {
  return sameJson(withoutMetadata(before), withoutMetadata(after));
}

function withoutMetadata(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  const { metadata: _metadata, status: _status, ...rest } = json as Record<string, unknown>;
  return rest;
}
