import { resolve, type Bundle } from './availability.ts';
import { isPresent, isRecord, mapItems, property, type Json } from './json.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { fieldsIn } from './locate.ts';
import type { MapNode, Node, ObjectNode } from './node.ts';
import { perBundle } from './per-bundle.ts';
import { bodyOf } from './tables/table.ts';

/**
 * What the API server makes of an object of `kind` before it judges it: defaults filled in, in the middle of lists
 * too, and nulls that no field may have dropped. The input stays as it is; whatever the schema does not know, and
 * whatever has the wrong type, is kept. The tables of Kubernetes' own kinds hold no defaults. Never throws.
 */
export function applyDefaults(kind: SchemaKind, json: unknown, bundle: Bundle): unknown {
  return fillDefaults(bodyOf(schemaTables[kind], json), json, bundle);
}

/** The same for a value that a table describes. */
export function fillDefaults(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list') return Array.isArray(json) ? mapItems(json, (item) => fillDefaults(node.items, item, bundle)) : json;
  if (node.type !== 'object' && node.type !== 'map') return json;
  if (!isRecord(json)) return json;
  return node.type === 'map' ? fillMap(node, json, bundle) : fillObject(node, json, bundle);
}

/** What the API server sends has its defaults already, and is not copied then. */
function fillObject(node: ObjectNode, json: Json, bundle: Bundle): unknown {
  const fields = fieldsIn(node, bundle);
  let filled: Record<string, unknown> | undefined;
  for (const name of Object.keys(json)) {
    const child = fields.get(name);
    if (child === undefined) continue;
    const value = isPresent(json[name]) ? fillDefaults(child, json[name], bundle) : undefined;
    if (value === json[name]) continue;
    filled ??= { ...json };
    if (value === undefined) delete filled[name];
    else filled[name] = value;
  }
  for (const { name, child, value } of defaultsIn(node, bundle)) {
    if (isPresent(property(json, name))) continue;
    filled ??= { ...json };
    filled[name] = fillDefaults(child, value, bundle);
  }
  return filled ?? json;
}

/** The fields of an object that are filled in where they are absent. */
const defaultsIn = perBundle((node: ObjectNode, bundle): readonly { readonly name: string; readonly child: Node; readonly value: unknown }[] =>
  [...fieldsIn(node, bundle)].flatMap(([name, child]) => {
    const value = defaultOf(child, bundle);
    return value === undefined ? [] : [{ name, child, value }];
  }));

function fillMap(node: MapNode, json: Json, bundle: Bundle): unknown {
  const filled = Object.entries(json).filter(([, value]) => isPresent(value)).map(([key, value]): [string, unknown] => [key, fillDefaults(node.values, value, bundle)]);
  const isSame = filled.length === Object.keys(json).length && filled.every(([key, value]) => value === json[key]);
  return isSame ? json : Object.fromEntries(filled);
}

/** The default of a value that is absent in a bundle; `undefined` where it simply stays absent. */
export function defaultOf(node: Node, bundle: Bundle): unknown {
  return 'default' in node && node.default !== undefined ? resolve<unknown>(node.default, bundle) : undefined;
}
