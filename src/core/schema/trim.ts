import { resolve, type Bundle } from './availability.ts';
import { isRecord, property } from './json.ts';
import type { Node } from './node.ts';

/** How many items of a list, or entries of a map, are judged where the schema sets no limit of its own. */
export const judgedItems = 10_000;

/**
 * A copy in which lists and maps end one item after the most they may have, so that judging a huge object costs no
 * more than judging a big one, and still finds that they are too long.
 */
export function trim(node: Node, json: unknown, bundle: Bundle): unknown {
  if (node.type === 'list') return Array.isArray(json) ? trimList(node, json, bundle) : json;
  if (!isRecord(json)) return json;
  if (node.type === 'map') return trimMap(node, json, bundle);
  return node.type === 'object' ? trimObject(node, json, bundle) : json;
}

function trimList(node: Extract<Node, { type: 'list' }>, json: readonly unknown[], bundle: Bundle): unknown {
  return json.slice(0, limitOf(node.maxItems, bundle) + 1).map((item) => trim(node.items, item, bundle));
}

function trimMap(node: Extract<Node, { type: 'map' }>, json: Readonly<Record<string, unknown>>, bundle: Bundle): unknown {
  return Object.fromEntries(Object.entries(json).slice(0, limitOf(node.maxProperties, bundle) + 1));
}

function trimObject(node: Extract<Node, { type: 'object' }>, json: Readonly<Record<string, unknown>>, bundle: Bundle): unknown {
  const fields = Object.entries(node.fields).flatMap(([name, field]) => {
    const child = resolve(field, bundle);
    const value = property(json, name);
    return child === undefined || value === undefined ? [] : [[name, trim(child, value, bundle)] as const];
  });
  return Object.fromEntries(fields);
}

function limitOf(limit: Parameters<typeof resolve<number>>[0] | undefined, bundle: Bundle): number {
  return limit === undefined ? judgedItems : resolve(limit, bundle) ?? judgedItems;
}
