import type { Bundle } from './availability.ts';
import { applyDefaults } from './defaults.ts';
import { inspect } from './inspect.ts';
import type { FieldPath } from './json.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { nodeAt, pathOfPointer, valueAt } from './locate.ts';
import { describe } from './messages.ts';
import { maximumProblems, type StructureProblem, type Subject } from './problem.ts';
import { versionOf, whyNotServed } from './served.ts';
import { trim } from './trim.ts';
import { loadValidator, type Validator, type ValidatorError } from './validators.ts';

/**
 * Compares an object with the schema that a bundle gives its kind, as the API server does: after filling in defaults.
 * What the bundle does not serve at all is a single problem, of `kind` or `apiVersion`. CEL rules are not part of it,
 * nor are metadata, nor kinds of Kubernetes itself, about all of which nothing is found. Never throws; at most 200
 * problems, unknown fields last.
 *
 * @param apiVersion as the object has it, `gateway.networking.k8s.io/v1`
 */
export function validateStructure(
  kind: SchemaKind, apiVersion: string, json: unknown, bundle: Bundle,
): readonly StructureProblem[] {
  const notServed = whyNotServed(kind, apiVersion, bundle);
  if (notServed !== undefined) return [notServed];
  const version = versionOf(kind, apiVersion, bundle);
  const validator = version === undefined ? undefined : loadValidator(kind, version.name, bundle);
  if (validator === undefined) return [];
  const body = version?.body ?? schemaTables[kind].body;
  const filled = applyDefaults(kind, json, bundle);
  const subject = { body, bundle, existsIn: (other: Bundle) => versionOf(kind, apiVersion, other) !== undefined };
  const { errors, unknown } = inspect(subject, filled);
  return [...distinct([...complaints(validator, subject, filled), ...errors]).slice(0, maximumProblems), ...unknown];
}

function complaints(validator: Validator, subject: Subject, json: unknown): readonly StructureProblem[] {
  const trimmed = trim(subject.body, json, subject.bundle);
  if (validator(trimmed)) return [];
  // What went wrong inside an alternative is told by the error about the alternatives as a whole.
  const errors = (validator.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes('/oneOf/'));
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
