/** An item of a list that is sorted by this key. Items may have equal keys. */
export interface Sorted {
  readonly sortKey: string;
}

/** Inserts an item into a sorted list. */
export function insertSorted<T extends Sorted>(list: T[], item: T): void {
  list.splice(positionOf(item, list), 0, item);
}

/** Removes this item from a sorted list. Does nothing if it is not found. */
export function removeSorted<T extends Sorted>(list: T[], item: T): void {
  for (let at = positionOf(item, list); list[at]?.sortKey === item.sortKey; at += 1) {
    if (list[at] !== item) continue;
    list.splice(at, 1);
    return;
  }
}

/** The position of the first item whose key is not less. */
function positionOf({ sortKey }: Sorted, list: readonly Sorted[]): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = list[middle];
    if (found !== undefined && found.sortKey < sortKey) low = middle + 1;
    else high = middle;
  }
  return low;
}
