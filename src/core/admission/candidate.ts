import { identifyObject, type IdentifiedObject, type IdentifiedResource } from '../resources/parse.ts';
import type { Resource } from '../resources/resource.ts';
import {
  applyDefaults,
  examinationOf,
  isSchemaKind,
  type Bundle,
  type Examination,
  type WrittenObject,
} from '../schema/index.ts';
import { runToEnd, type Steps } from '../text/steps.ts';

/** An object as submitted, and the result of checking it against the schema of the policy's bundle. */
export interface ExaminedObject extends WrittenObject {
  readonly examination: Examination;
  /** The object as read with defaults. Absent if its kind is not evaluated, and therefore not served. */
  readonly resource?: Resource;
}

/** An object of a kind that is evaluated. */
export interface Candidate extends ExaminedObject {
  readonly resource: Resource;
}

/** The result of reading a document of a file. */
export type ReadDocument =
  /** The object as the API server would judge and store it. */
  | { readonly type: 'candidate'; readonly candidate: Candidate }
  | Exclude<IdentifiedObject, { readonly type: 'resource' }>;

/**
 * Reads an object as users write it, with the defaults of the bundle. Never throws.
 *
 * @param order orders objects without creationTimestamp by appearance in the files; compared as a string
 */
export function readDocument(json: unknown, bundle: Bundle, order = ''): ReadDocument {
  const identified = identifyObject(json, order);
  return identified.type === 'resource'
    ? { type: 'candidate', candidate: candidateOf(identified, json, bundle) }
    : identified;
}

/**
 * Reads an object as the API server of a bundle stores it: with defaults, and without the fields that the bundle does not have.
 * Reads the body only once if the remaining fields conform to the bundle's schema.
 */
export function candidateOf(identified: IdentifiedResource, json: unknown, bundle: Bundle): Candidate {
  return runToEnd(candidateInSteps(identified, json, bundle));
}

function* candidateInSteps(
  { kind, apiVersion, read, adopt }: IdentifiedResource,
  json: unknown,
  bundle: Bundle,
): Steps<Candidate> {
  const examined = yield* examinedInSteps({ kind, apiVersion, json }, bundle);
  const { stored, settled, isWhole } = examined.examination;
  const resource =
    isWhole && typeof stored === 'object' ? adopt(stored) : read(settled ?? applyDefaults(kind, json, bundle));
  return { ...examined, resource };
}

/** Checks an object of a kind that is not evaluated against the schema of a bundle, in steps. */
export function* examinedInSteps(object: WrittenObject, bundle: Bundle): Steps<ExaminedObject> {
  return { ...object, examination: yield* examinationOf(object, bundle) };
}

/** Reads an object of any kind like `candidateOf`, in steps; `undefined` if its kind has no schema. */
export function* readInSteps(
  identified: IdentifiedObject,
  json: unknown,
  bundle: Bundle,
): Steps<ExaminedObject | undefined> {
  if (identified.type === 'resource') return yield* candidateInSteps(identified, json, bundle);
  if (identified.type !== 'unserved' || !isSchemaKind(identified.ref.kind)) return undefined;
  return yield* examinedInSteps({ kind: identified.ref.kind, apiVersion: identified.apiVersion, json }, bundle);
}
