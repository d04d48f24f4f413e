import { resolve, type Bundle } from './availability.ts';
import { isPresent, isRecord, mapItems, property, type Json } from './json-values.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { mostItems } from './limits.ts';
import { fieldsIn } from './locate.ts';
import type { MapNode, Node, ObjectNode } from './node.ts';
import { perBundle } from './per-bundle.ts';
import { bodyOf } from './tables/table.ts';

/**
 * What the API server makes of an object of `kind` before it judges it: defaults filled in, in the middle of lists
 * too, and nulls that no field may have dropped. The input stays as it is; whatever the schema does not know, and
 * whatever has the wrong type, is kept. Lists that are longer than any bundle allows stay as they are, since nobody reads them. The tables of Kubernetes' own kinds hold no defaults. Never throws.
 */
export function applyDefaults(kind: SchemaKind, json: unknown, bundle: Bundle): unknown {
  return fillDefaults(bodyOf(schemaTables[kind], json), json, bundle);
}

/** The same for a value that a table describes. */
export function fillDefaults(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list') return Array.isArray(json) && json.length <= mostItems(node) ? mapItems(json, (item) => fillDefaults(node.items, item, bundle)) : json;
  if (node.type !== 'object' && node.type !== 'map') return json;
  if (!isRecord(json)) return json;
  return node.type === 'map' ? fillMap(node, json, bundle) : fillObject(node, json, bundle);
}

function fillObject(node: ObjectNode, json: Json, bundle: Bundle): unknown {
  const fields = fieldsIn(node, bundle);
  const level = fillLevel(node, json, bundle);
  let filled: Record<string, unknown> | undefined;
  for (const name of Object.keys(level)) {
    const child = fields.get(name);
    const value = child === undefined ? level[name] : fillDefaults(child, level[name], bundle);
    if (value === level[name]) continue;
    filled ??= { ...level };
    filled[name] = value;
  }
  return filled ?? level;
}

/** The fields of an object itself. What the API server sends has its defaults already, and is not copied then. */
export function fillLevel(node: ObjectNode, json: Json, bundle: Bundle): Json {
  const fields = fieldsIn(node, bundle);
  let filled: Record<string, unknown> | undefined;
  for (const name of Object.keys(json)) {
    if (isPresent(json[name]) || !fields.has(name)) continue;
    filled ??= { ...json };
    delete filled[name];
  }
  for (const { name, value } of defaultsIn(node, bundle)) {
    if (isPresent(property(json, name))) continue;
    filled ??= { ...json };
    filled[name] = value;
  }
  return filled ?? json;
}

/** The fields of an object that are filled in where they are absent. */
const defaultsIn = perBundle((node: ObjectNode, bundle): readonly { readonly name: string; readonly value: unknown }[] =>
  [...fieldsIn(node, bundle)].flatMap(([name, child]) => {
    const value = defaultOf(child, bundle);
    return value === undefined ? [] : [{ name, value }];
  }));

function fillMap(node: MapNode, json: Json, bundle: Bundle): unknown {
  const level = withoutNulls(json);
  if (Object.keys(level).length > mostItems(node)) return level;
  const filled = Object.entries(level).map(([key, value]): [string, unknown] => [key, fillDefaults(node.values, value, bundle)]);
  return filled.every(([key, value]) => value === level[key]) ? level : Object.fromEntries(filled);
}

/** A map itself: the same where it has no null. */
export function withoutNulls(json: Json): Json {
  const keys = Object.keys(json);
  return keys.every((key) => isPresent(json[key])) ? json : Object.fromEntries(Object.entries(json).filter(([, value]) => isPresent(value)));
}

/** The default of a value that is absent in a bundle; `undefined` where it simply stays absent. */
export function defaultOf(node: Node, bundle: Bundle): unknown {
  return 'default' in node && node.default !== undefined ? resolve<unknown>(node.default, bundle) : undefined;
}
