import { valueAt } from '../text/record.ts';
import { runToEnd, type Steps } from '../text/steps.ts';
import type { Bundle } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { nodeAt, pathOfPointer } from './locate.ts';
import { describe } from './messages.ts';
import type { Node } from './node.ts';
import { firstOfEachPlace, type StructureProblem, type Subject } from './problem.ts';
import { readSettled } from './reader.ts';
import { versionOf, whyNotServed } from './served.ts';
import { settle } from './settle.ts';
import { loadValidator, type ValidatorError } from './validators.ts';
import type { View } from './view.ts';

/** An object of some version of a kind, as submitted. */
export interface WrittenObject {
  readonly kind: SchemaKind;
  /** As in the object, e.g. `gateway.networking.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly json: unknown;
}

/** The result of validating an object against the schema of a bundle. */
export interface Examination {
  /** Differences from the schema: at most 200, unknown fields last, at most one per location. */
  readonly problems: readonly StructureProblem[];
  /**
   * The object before further validation by the API server: without unknown fields, with defaults, and without values of the
   * wrong type. `undefined` if the bundle has no schema for such objects.
   */
  readonly stored: View<Node> | undefined;
  /** Like `stored`, but with values of the wrong type, for messages; `undefined` if the bundle has no schema. */
  readonly settled: unknown;
  /** Whether every reader would get `stored` from the object, because all of it conforms to the table of its kind. */
  readonly isWhole: boolean;
}

/**
 * Validates an object against the schema of its kind in a bundle, like the API server: after filling in defaults. If the
 * bundle does not serve the object, that is the only problem, at `kind` or `apiVersion`. CEL rules, metadata and kinds of
 * Kubernetes itself are not validated. Never throws.
 */
export function examine(object: WrittenObject, bundle: Bundle): Examination {
  return runToEnd(examinationOf(object, bundle));
}

/** Like `examine`, in steps. Each step reads the object once. */
export function* examinationOf({ kind, apiVersion, json }: WrittenObject, bundle: Bundle): Steps<Examination> {
  const notServed = whyNotServed(kind, apiVersion, bundle);
  const version = versionOf(kind, apiVersion, bundle);
  const validator = version === undefined ? undefined : loadValidator(kind, version.name, bundle);
  if (validator === undefined)
    return {
      problems: notServed === undefined ? [] : [notServed],
      stored: undefined,
      settled: undefined,
      isWhole: false,
    };

  const body = version?.body ?? schemaTables[kind].body;
  const subject: Subject = { body, bundle, existsIn: (other) => versionOf(kind, apiVersion, other) !== undefined };
  const { value, errors, unknown } = yield* settle(subject, json);
  yield;
  const isValid = validator(value);
  const complained = isValid ? [] : (validator.errors ?? []);
  yield;
  // Valid objects, which most are, have the right types throughout.
  const stored = isValid ? (value as View<Node>) : readSettled<Node>(body, value).view;
  if (notServed !== undefined) return { problems: [notServed], stored, settled: value, isWhole: false };
  const problems = [...firstOfEachPlace(refusals(complained, errors, { subject, json: value })), ...unknown];
  return { problems, stored, settled: value, isWhole: isValid && errors.length === 0 && version?.body === undefined };
}

/** Problems for which the API server rejects the object. Each complaint of the validator is described when it is taken. */
function* refusals(
  all: readonly ValidatorError[],
  errors: readonly StructureProblem[],
  { subject, json }: { readonly subject: Subject; readonly json: unknown },
): Iterable<StructureProblem> {
  // The error about the alternatives as a whole covers errors inside them.
  const complaints = all.filter(({ schemaPath }) => !schemaPath.includes('/oneOf/'));
  // Type errors come first: other errors of a value with the wrong type are meaningless.
  for (const error of complaints) if (isTypeError(error)) yield* complaintOf(error, subject, json);
  for (const error of complaints) if (!isTypeError(error)) yield* complaintOf(error, subject, json);
  yield* errors;
}

function isTypeError(error: ValidatorError): boolean {
  return error.keyword === 'type';
}

function complaintOf(error: ValidatorError, subject: Subject, json: unknown): readonly StructureProblem[] {
  const { keyword, params } = error;
  const place = pathOfPointer(error.instancePath, json);
  const missing = params['missingProperty'];
  const path: FieldPath = typeof missing === 'string' ? [...place, missing] : place;
  const node = nodeAt(subject.body, path, subject.bundle);
  if (node === undefined) return [];
  const limit = Number(params['limit'] ?? 0);
  return [{ path, message: describe({ keyword, limit, value: valueAt(json, path), node, path, subject }), keyword }];
}
