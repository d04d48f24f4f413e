/**
 * A stored list in its smallest form: a list with one item is stored as that item. Most lists have one item, and a list takes half as much
 * memory as a cached result. Items must not be lists.
 */
export type Few<T extends object> = T | readonly T[];

/** The empty list, which all share. */
export const nothing: readonly never[] = Object.freeze([]);

/** Returns the smallest form of a list. A longer one stays as it is: pass one with no room to spare (`fitted`, `slice`). */
export function few<T extends object>(items: readonly T[]): Few<T> {
  const [first] = items;
  if (first === undefined) return nothing;
  return items.length === 1 ? first : items;
}

/** Returns the list of such a form. */
export function listed<T extends object>(form: Few<T>): readonly T[] {
  return isList(form) ? form : [form];
}

function isList<T extends object>(form: Few<T>): form is readonly T[] {
  return Array.isArray(form);
}
