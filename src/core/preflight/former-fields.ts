import { describeRef } from '../resources/reference.ts';
import { fieldIn, gatewayGroups, schemaTables, type Bundle, type Node } from '../schema/index.ts';
import { isRecord, recordOf, recordsOf } from '../text/record.ts';
import type { StoredObject } from './target.ts';
import { groupOf } from '../text/api-version.ts';

/** A field that a client wrote, and that the installed CRD does not have. */
export interface FormerField {
  /** `HTTPRoute shop/cart` */
  readonly object: string;
  /** Field names separated by dots, without positions in lists: `spec.rules.retry`. */
  readonly field: string;
}

/**
 * Finds fields that the API server has dropped, or drops on the next write. The field managers of an object still list a field
 * after a CRD without it was installed: an older release, or the standard channel after the experimental one.
 *
 * @param bundle the bundle of the installed CRDs
 */
export function formerFields(objects: readonly StoredObject[], bundle: Bundle): readonly FormerField[] {
  return objects.flatMap((object) => {
    const { kind, ref, json } = object;
    if (!gatewayGroups.includes(schemaTables[kind].group)) return [];
    const written = recordsOf(recordOf(json['metadata'])['managedFields'])
      .filter(({ apiVersion }) => typeof apiVersion === 'string' && groupOf(apiVersion) === schemaTables[kind].group)
      .flatMap(({ fieldsV1 }) => pathsIn(recordOf(fieldsV1)['f:spec'], 'spec'));
    return [...new Set(written)]
      .filter((field) => isObject(fieldIn(bundle, kind, parentOf(field))))
      .filter((field) => fieldIn(bundle, kind, field) === undefined)
      .map((field) => ({ object: describeRef(ref), field }));
  });
}

const deepest = 20;

/** The paths of all fields in a set of managed fields (FieldsV1). Keys of list items (`k:`, `v:`, `i:`) are no fields. */
function pathsIn(fields: unknown, path: string, depth = 0): readonly string[] {
  if (!isRecord(fields) || depth > deepest) return [];
  return Object.entries(fields).flatMap(([key, members]) => {
    if (!key.startsWith('f:')) return pathsIn(members, path, depth + 1);
    // Keys of maps, such as labels, may contain dots.
    if (key.includes('.')) return [];
    const field = `${path}.${key.slice(2)}`;
    return [field, ...pathsIn(members, field, depth + 1)];
  });
}

/** Whether a node has fields, itself or in its items. The keys of maps are data. */
function isObject(node: Node | undefined): boolean {
  return node?.type === 'list' ? isObject(node.items) : node?.type === 'object';
}

function parentOf(field: string): string {
  return field.slice(0, field.lastIndexOf('.'));
}
