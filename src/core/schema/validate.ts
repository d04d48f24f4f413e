import { quote } from '../text/display.ts';
import type { Bundle } from './availability.ts';
import { versionsIn } from './compile.ts';
import { applyDefaults } from './defaults.ts';
import { inspect } from './inspect.ts';
import type { FieldPath } from './json.ts';
import { tables, type KindName } from './kinds.ts';
import { nodeAt, pathOfPointer, valueAt } from './locate.ts';
import { describe } from './messages.ts';
import type { ObjectNode } from './node.ts';
import { maximumProblems, nameOf, type StructureProblem } from './problem.ts';
import { apiVersionOf, type KindTable } from './tables/table.ts';
import { trim } from './trim.ts';
import { loadValidator, type Validator, type ValidatorError } from './validators.ts';

/**
 * Compares an object with the schema that a bundle gives its kind, as the API server does: after filling in defaults.
 * CEL rules are not part of it, nor are metadata, nor kinds of Kubernetes itself, nor bundles other than
 * `supportedMinors`, about all of which nothing is found. Never throws; at most 200 problems, unknown fields last.
 *
 * @param apiVersion as the object has it, `gateway.networking.k8s.io/v1`
 */
export function validateStructure(
  kind: KindName, apiVersion: string, json: unknown, bundle: Bundle,
): readonly StructureProblem[] {
  const table: KindTable = tables[kind];
  const served = versionsIn(table, bundle).filter((version) => version.served);
  const version = served.find(({ name }) => apiVersionOf(table, name) === apiVersion);
  if (version === undefined) return [wrongVersion(apiVersion, served.map(({ name }) => apiVersionOf(table, name)), bundle)];
  const validator = loadValidator(kind, version.name, bundle);
  if (validator === undefined) return [];
  const body = version.body ?? table.body;
  const filled = applyDefaults(kind, json, bundle);
  const { errors, unknown } = inspect(body, filled, bundle);
  const judged = { body, json: filled, bundle };
  return [...distinct([...complaints(validator, judged), ...errors]).slice(0, maximumProblems), ...unknown];
}

function wrongVersion(apiVersion: string, served: readonly string[], bundle: Bundle): StructureProblem {
  const message = `${quote(apiVersion)} is not served by ${nameOf(bundle)}; write ${served.join(' or ')}`;
  return { path: ['apiVersion'], message, keyword: 'enum' };
}

interface Judged {
  readonly body: ObjectNode;
  readonly json: unknown;
  readonly bundle: Bundle;
}

function complaints(validator: Validator, judged: Judged): readonly StructureProblem[] {
  const trimmed = trim(judged.body, judged.json, judged.bundle);
  if (validator(trimmed)) return [];
  // What went wrong inside an alternative is told by the error about the alternatives as a whole.
  const errors = (validator.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes('/oneOf/'));
  // Type errors first: whoever has the wrong type has other faults that mean nothing.
  const ordered = [...errors.filter(isTypeError), ...errors.filter((error) => !isTypeError(error))];
  return ordered.flatMap((error) => complaintOf(error, judged));
}

function isTypeError(error: ValidatorError): boolean {
  return error.keyword === 'type';
}

function complaintOf(error: ValidatorError, { body, json, bundle }: Judged): readonly StructureProblem[] {
  const { keyword, params } = error;
  const place = pathOfPointer(error.instancePath, json);
  const missing = params['missingProperty'];
  const path: FieldPath = typeof missing === 'string' ? [...place, missing] : place;
  const node = nodeAt(body, path, bundle);
  if (node === undefined) return [];
  const limit = Number(params['limit'] ?? 0);
  return [{ path, message: describe({ keyword, limit, value: valueAt(json, path), node, bundle }), keyword }];
}

/** One problem a place: the first. */
function distinct(problems: readonly StructureProblem[]): readonly StructureProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => {
    const key = JSON.stringify(path);
    return seen.has(key) ? false : seen.add(key);
  });
}
