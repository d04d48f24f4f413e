import { resolve, type Bundle } from './availability.ts';
import { isPresent, isRecord, mapItems, property, type Json } from './json-values.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { maxItemsOf } from './limits.ts';
import { fieldsIn } from './locate.ts';
import type { MapNode, Node, ObjectNode } from './node.ts';
import { perBundle } from './per-bundle.ts';
import { bodyOf } from './tables/table.ts';

/**
 * Fills in defaults as the API server does before validation, also inside lists, and drops nulls from fields. Does not
 * modify the input. Keeps unknown fields and values of the wrong type. Leaves lists that exceed the limit of every bundle
 * unchanged, since they are not evaluated. The tables of Kubernetes' own kinds contain no defaults. Never throws.
 */
export function applyDefaults(kind: SchemaKind, json: unknown, bundle: Bundle): unknown {
  return fillDefaults(bodyOf(schemaTables[kind], json), json, bundle);
}

/** Like `applyDefaults`, for a value described by `node`. */
export function fillDefaults(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list')
    return Array.isArray(json) && json.length <= maxItemsOf(node)
      ? mapItems(json, (item) => fillDefaults(node.items, item, bundle))
      : json;
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

/** Fills in the direct fields of an object. Objects from the API server already have their defaults and are not copied. */
function fillLevel(node: ObjectNode, json: Json, bundle: Bundle): Json {
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

interface DefaultField {
  readonly name: string;
  readonly child: Node;
  readonly value: unknown;
}

/** The fields of an object that have defaults. */
export const defaultsIn = perBundle((node: ObjectNode, bundle): readonly DefaultField[] =>
  [...fieldsIn(node, bundle)].flatMap(([name, child]) => {
    const value = defaultOf(child, bundle);
    return value === undefined ? [] : [{ name, child, value }];
  }),
);

function fillMap(node: MapNode, json: Json, bundle: Bundle): unknown {
  const level = withoutNulls(json);
  if (Object.keys(level).length > maxItemsOf(node)) return level;
  const filled = Object.entries(level).map(([key, value]): [string, unknown] => [
    key,
    fillDefaults(node.values, value, bundle),
  ]);
  return filled.every(([key, value]) => value === level[key]) ? level : Object.fromEntries(filled);
}

/** The map without null values; the same object if there are none. */
export function withoutNulls(json: Json): Json {
  const keys = Object.keys(json);
  return keys.every((key) => isPresent(json[key]))
    ? json
    : Object.fromEntries(Object.entries(json).filter(([, value]) => isPresent(value)));
}

/** The default of a value in a bundle; `undefined` if it has none. */
export function defaultOf(node: Node, bundle: Bundle): unknown {
  return 'default' in node && node.default !== undefined ? resolve<unknown>(node.default, bundle) : undefined;
}
