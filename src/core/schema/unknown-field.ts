import { allVariants, resolve } from './availability.ts';
import type { FieldPath } from './json-values.ts';
import { fieldNames } from './locate.ts';
import type { Node, ObjectNode } from './node.ts';
import { elsewhere, nameOf, suggestion, type StructureProblem, type Subject } from './problem.ts';

/**
 * Describes a field that does not exist in a bundle.
 *
 * @param others fields that are allowed here although the table does not list them
 */
export function unknownField(
  node: ObjectNode,
  path: FieldPath,
  { subject, others }: { readonly subject: Subject; readonly others: readonly string[] },
): StructureProblem {
  const { bundle } = subject;
  const name = String(path.at(-1));
  const place = elsewhere(subject, path, () => true);
  if (place !== undefined) return knownElsewhere(newestField(node, name), { path, place, subject });
  const known = [...fieldNames(node, bundle), ...others];
  const near = suggestion(name, known);
  const advice = near === undefined ? `Known fields: ${known.join(', ')}.` : `Did you mean ${near}?`;
  return {
    path,
    message: `Unknown field in ${nameOf(bundle)}, so the API server drops it. ${advice}`,
    keyword: 'unknown',
    advice,
  };
}

function newestField({ fields }: ObjectNode, name: string): Node | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field === undefined ? undefined : allVariants(field).at(-1);
}

interface Elsewhere {
  readonly path: FieldPath;
  readonly place: string;
  readonly subject: Subject;
}

/** Names the replacement of the field in this bundle, and the protection that is lost, if the table has them. */
function knownElsewhere(field: Node | undefined, { path, place, subject: { bundle } }: Elsewhere): StructureProblem {
  const instead = field?.instead === undefined ? undefined : resolve(field.instead, bundle);
  const replacement = instead === undefined ? '' : ` Use ${instead}.`;
  const dropped = `Unknown field: it ${place}, so the API server drops it.${replacement}`;
  // Controllers write the status. It protects nothing.
  const lost = path[0] === 'status' ? undefined : field?.lost;
  return lost === undefined
    ? { path, message: dropped, keyword: 'unknown' }
    : { path, message: `${dropped} ${lost}.`, keyword: 'unknown', lost };
}
