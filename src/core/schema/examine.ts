import { runToEnd, type Steps } from '../text/steps.ts';
import type { Bundle } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { nodeAt, pathOfPointer, valueAt } from './locate.ts';
import { describe } from './messages.ts';
import type { Node } from './node.ts';
import { maximumProblems, type StructureProblem, type Subject } from './problem.ts';
import { readSettled } from './reader.ts';
import { versionOf, whyNotServed } from './served.ts';
import { settle } from './settle.ts';
import { loadValidator, type ValidatorError } from './validators.ts';
import type { View } from './view.ts';

/** An object of some version of a kind, as it came. */
export interface WrittenObject {
  readonly kind: SchemaKind;
  /** As the object has it, `gateway.networking.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly json: unknown;
}

/** What the schema of a bundle makes of an object. */
export interface Examination {
  /** In what the object differs from the schema; at most 200, unknown fields last, at most one at a place. */
  readonly problems: readonly StructureProblem[];
  /**
   * The object as the API server would go on to judge it: unknown fields dropped, defaults filled in; what has the
   * wrong type is left out. `undefined` where the bundle has no schema for such objects.
   */
  readonly stored: View<Node> | undefined;
  /** The same with what has the wrong type, to be read by whoever tells of it; `undefined` where the bundle has no schema. */
  readonly settled: unknown;
  /** Whether `stored` is what any reader would make of the object, since all of it is as the table of its kind says. */
  readonly isWhole: boolean;
}

/**
 * Compares an object with the schema that a bundle gives its kind, as the API server does: after filling in defaults.
 * What the bundle does not serve at all is a single problem, of `kind` or `apiVersion`. CEL rules are not part of it,
 * nor are metadata, nor kinds of Kubernetes itself, about all of which nothing is found. Never throws.
 */
export function examine(object: WrittenObject, bundle: Bundle): Examination {
  return runToEnd(examinationOf(object, bundle));
}

/** The same in steps: each of them looks through the object once. */
export function* examinationOf({ kind, apiVersion, json }: WrittenObject, bundle: Bundle): Steps<Examination> {
  const notServed = whyNotServed(kind, apiVersion, bundle);
  const version = versionOf(kind, apiVersion, bundle);
  const validator = version === undefined ? undefined : loadValidator(kind, version.name, bundle);
  if (validator === undefined) return { problems: notServed === undefined ? [] : [notServed], stored: undefined, settled: undefined, isWhole: false };

  const body = version?.body ?? schemaTables[kind].body;
  const subject: Subject = { body, bundle, existsIn: (other) => versionOf(kind, apiVersion, other) !== undefined };
  const { value, errors, unknown } = yield* settle(subject, json);
  yield;
  const isValid = validator(value);
  const complained = isValid ? [] : (validator.errors ?? []);
  yield;
  // What is valid has the right types throughout; most objects are.
  const stored = isValid ? (value as View<Node>) : readSettled<Node>(body, value).view;
  if (notServed !== undefined) return { problems: [notServed], stored, settled: value, isWhole: false };
  const refused = distinct([...complaints(complained, subject, value), ...errors]);
  const problems = [...refused.slice(0, maximumProblems), ...unknown];
  return { problems, stored, settled: value, isWhole: isValid && errors.length === 0 && version?.body === undefined };
}

function complaints(all: readonly ValidatorError[], subject: Subject, json: unknown): readonly StructureProblem[] {
  // What went wrong inside an alternative is told by the error about the alternatives as a whole.
  const errors = all.filter(({ schemaPath }) => !schemaPath.includes('/oneOf/'));
  // Type errors first: whoever has the wrong type has other faults that mean nothing.
  const ordered = [...errors.filter(isTypeError), ...errors.filter((error) => !isTypeError(error))];
  return ordered.flatMap((error) => complaintOf(error, subject, json));
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

/** One problem a place: the first. */
function distinct(problems: readonly StructureProblem[]): readonly StructureProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => {
    const key = JSON.stringify(path);
    return seen.has(key) ? false : seen.add(key);
  });
}
