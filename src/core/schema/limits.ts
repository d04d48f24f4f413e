import { allVariants, type MaybeVersioned } from './availability.ts';
import type { ListNode, MapNode, Node, StringNode } from './node.ts';

/** Maximum number of validated items of a list, or entries of a map, without a limit in the schema. */
export const judgedItems = 10_000;

/**
 * With how many errors validators stop to validate further items. Of their errors, the first 100 are kept, those about types before others.
 */
export const soughtErrors = 1_000;

const known = new WeakMap<Node, number>();

/**
 * The highest limit of any bundle for the items of a list or the entries of a map; `judgedItems` if some bundle has no
 * limit. Longer lists and maps are not evaluated.
 */
export function maxItemsOf(node: ListNode | MapNode): number {
  const before = known.get(node);
  if (before !== undefined) return before;
  const most = loosest(node.type === 'list' ? node.maxItems : node.maxProperties) ?? judgedItems;
  known.set(node, most);
  return most;
}

/** The highest limit of any bundle for the characters of a string; infinite if some bundle has no limit. */
export function maxLengthOf(node: StringNode): number {
  const before = known.get(node);
  if (before !== undefined) return before;
  const most = loosest(node.maxLength) ?? Number.POSITIVE_INFINITY;
  known.set(node, most);
  return most;
}

/** The highest limit of any bundle. If a limit exists only in some bundles, the others have no limit. */
function loosest(limit: MaybeVersioned<number> | undefined): number | undefined {
  const isEverywhere = limit !== undefined && allVariants(limit).length > 0 && !isPartial(limit);
  return isEverywhere ? Math.max(...allVariants(limit)) : undefined;
}

function isPartial(limit: MaybeVersioned<number>): boolean {
  return (
    typeof limit !== 'number' &&
    limit.variants.every(({ availability }) => availability.since !== undefined || availability.until !== undefined)
  );
}
