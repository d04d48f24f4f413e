import { resolve, resolveAll, type Bundle } from './availability.ts';
import { versionsIn } from './compile.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import type { IntegerNode, Node, StringNode } from './node.ts';
import type { KindTable } from './tables/table.ts';

/**
 * The node of a field in the schema of a bundle; `undefined` if the bundle does not serve the kind or does not have the
 * field.
 *
 * @param path field names separated by dots; lists and maps are entered implicitly: `spec.rules.retry`. `''` is the object
 * itself
 */
export function fieldIn(bundle: Bundle, kind: SchemaKind, path = ''): Node | undefined {
  const table: KindTable = schemaTables[kind];
  const version = versionsIn(table, bundle).findLast(({ served }) => served);
  if (version === undefined) return undefined;
  const names = path === '' ? [] : path.split('.');
  return names.reduce<Node | undefined>(
    (node, name) => (node === undefined ? undefined : child(node, name, bundle)),
    version.body ?? table.body,
  );
}

/** The allowed values of a field in a bundle; empty if any value is allowed. */
export function enumOf(node: StringNode | IntegerNode, bundle: Bundle): readonly (string | number)[] {
  return resolveAll<string | number>(node.enum ?? [], bundle);
}

function child(node: Node, name: string, bundle: Bundle): Node | undefined {
  if (node.type === 'list') return child(node.items, name, bundle);
  if (node.type === 'map') return child(node.values, name, bundle);
  const field = node.type === 'object' && Object.hasOwn(node.fields, name) ? node.fields[name] : undefined;
  return field === undefined ? undefined : resolve(field, bundle);
}
