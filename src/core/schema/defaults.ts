import { resolve, type Bundle } from './availability.ts';
import { isPresent, isRecord, property, type Json } from './json.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { fieldsIn } from './locate.ts';
import type { MapNode, Node, ObjectNode } from './node.ts';
import { bodyOf } from './tables/table.ts';

/**
 * What the API server makes of an object of `kind` before it judges it: defaults filled in, in the middle of lists
 * too, and nulls that no field may have dropped. The input stays as it is; whatever the schema does not know, and
 * whatever has the wrong type, is kept. The tables of Kubernetes' own kinds hold no defaults. Never throws.
 */
export function applyDefaults(kind: SchemaKind, json: unknown, bundle: Bundle): unknown {
  return fill(bodyOf(schemaTables[kind], json), json, bundle);
}

function fill(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list') return Array.isArray(json) ? json.map((item) => fill(node.items, item, bundle)) : json;
  if (!isRecord(json)) return json;
  if (node.type === 'object') return fillObject(node, json, bundle);
  return node.type === 'map' ? fillMap(node, json, bundle) : json;
}

function fillObject(node: ObjectNode, json: Json, bundle: Bundle): unknown {
  const filled: Record<string, unknown> = { ...json };
  for (const [name, child] of fieldsIn(node, bundle)) {
    const given = property(json, name);
    const value = isPresent(given) ? given : defaultOf(child, bundle);
    if (value === undefined) delete filled[name];
    else filled[name] = fill(child, value, bundle);
  }
  return filled;
}

function fillMap(node: MapNode, json: Json, bundle: Bundle): unknown {
  const present = Object.entries(json).filter(([, value]) => isPresent(value));
  return Object.fromEntries(present.map(([key, value]) => [key, fill(node.values, value, bundle)]));
}

/** The default of a value that is absent in a bundle; `undefined` where it simply stays absent. */
export function defaultOf(node: Node, bundle: Bundle): unknown {
  return 'default' in node && node.default !== undefined ? resolve<unknown>(node.default, bundle) : undefined;
}
