import { allVariants, type MaybeVersioned } from './availability.ts';
import type { ListNode, MapNode, Node } from './node.ts';

/** How many items of a list, or entries of a map, are judged where the schema sets no limit of its own. */
export const judgedItems = 10_000;

const known = new WeakMap<Node, number>();

/**
 * How many items a list, or entries a map, may have in the bundle that allows the most; `judgedItems` where some bundle
 * sets no limit. Nobody evaluates longer ones.
 */
export function mostItems(node: ListNode | MapNode): number {
  const before = known.get(node);
  if (before !== undefined) return before;
  const most = loosest(node.type === 'list' ? node.maxItems : node.maxProperties);
  known.set(node, most);
  return most;
}

function loosest(limit: MaybeVersioned<number> | undefined): number {
  // A limit that only some bundles have is no limit in the others.
  const isEverywhere = limit !== undefined && allVariants(limit).length > 0 && !isPartial(limit);
  return isEverywhere ? Math.max(...allVariants(limit)) : judgedItems;
}

function isPartial(limit: MaybeVersioned<number>): boolean {
  return typeof limit !== 'number' && limit.variants.every(({ availability }) => availability.since !== undefined || availability.until !== undefined);
}
