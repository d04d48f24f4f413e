import { resolve, type Bundle } from './availability.ts';
import { isRecord, mapItems, type Json } from './json.ts';
import { fieldsIn } from './locate.ts';
import type { ListNode, MapNode, Node, ObjectNode } from './node.ts';

/** How many items of a list, or entries of a map, are judged where the schema sets no limit of its own. */
export const judgedItems = 10_000;

/**
 * The value without fields that the bundle does not know, in which lists and maps end one item after the most they may
 * have, so that judging a huge object costs no more than judging a big one, and still finds that they are too long.
 * The input stays as it is, and parts of it that are fine are not copied.
 */
export function trim(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list') return Array.isArray(json) ? trimList(node, json, bundle) : json;
  if (node.type !== 'object' && node.type !== 'map') return json;
  if (!isRecord(json)) return json;
  return node.type === 'map' ? trimMap(node, json, bundle) : trimObject(node, json, bundle);
}

function trimList(node: ListNode, json: readonly unknown[], bundle: Bundle): unknown {
  const limit = limitOf(node.maxItems, bundle) + 1;
  const items = json.length > limit ? json.slice(0, limit) : json;
  return mapItems(items, (item) => trim(node.items, item, bundle));
}

function trimMap(node: MapNode, json: Json, bundle: Bundle): unknown {
  const keys = Object.keys(json);
  const limit = limitOf(node.maxProperties, bundle) + 1;
  return keys.length <= limit ? json : Object.fromEntries(keys.slice(0, limit).map((key) => [key, json[key]]));
}

function trimObject(node: ObjectNode, json: Json, bundle: Bundle): unknown {
  const fields = fieldsIn(node, bundle);
  const kept: Record<string, unknown> = {};
  let differs = false;
  for (const name of Object.keys(json)) {
    const child = fields.get(name);
    if (child !== undefined) kept[name] = trim(child, json[name], bundle);
    if (child === undefined || kept[name] !== json[name]) differs = true;
  }
  return differs ? kept : json;
}

function limitOf(limit: Parameters<typeof resolve<number>>[0] | undefined, bundle: Bundle): number {
  return limit === undefined ? judgedItems : resolve(limit, bundle) ?? judgedItems;
}
