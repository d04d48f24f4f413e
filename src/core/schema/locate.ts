import { resolve, type Bundle } from './availability.ts';
import { memberOf } from '../text/record.ts';
import type { FieldPath } from './json-values.ts';
import type { Node, ObjectNode } from './node.ts';
import { perBundle } from './per-bundle.ts';

/** The node at `path` below `node` in a bundle; `undefined` if there is none. */
export function nodeAt(node: Node, path: FieldPath, bundle: Bundle): Node | undefined {
  let current: Node | undefined = node;
  for (const part of path) current = current === undefined ? undefined : childOf(current, part, bundle);
  return current;
}

function childOf(node: Node, part: string | number, bundle: Bundle): Node | undefined {
  if (node.type === 'list') return typeof part === 'number' ? node.items : undefined;
  if (node.type === 'map') return node.values;
  return node.type === 'object' ? fieldOf(node, String(part), bundle) : undefined;
}

/** A field of an object in a bundle; `undefined` if it does not have the field. */
export function fieldOf(node: ObjectNode, name: string, bundle: Bundle): Node | undefined {
  return fieldsIn(node, bundle).get(name);
}

/** The names of an object's fields in a bundle. */
export function fieldNames(node: ObjectNode, bundle: Bundle): readonly string[] {
  return [...fieldsIn(node, bundle).keys()];
}

/** The fields of an object in a bundle, in the order of the table. */
export const fieldsIn = perBundle(
  (node: ObjectNode, bundle): ReadonlyMap<string, Node> =>
    new Map(
      Object.entries(node.fields).flatMap(([name, field]) => {
        const child = resolve(field, bundle);
        return child === undefined ? [] : [[name, child]];
      }),
    ),
);

/** Parses a JSON pointer (RFC 6901) into `json`. Positions in lists become numbers. */
export function pathOfPointer(pointer: string, json: unknown): FieldPath {
  const path: (string | number)[] = [];
  let current = json;
  for (const escaped of pointer.split('/').slice(1)) {
    const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(current) ? Number(part) : part);
    current = memberOf(current, path.at(-1) ?? '');
  }
  return path;
}
