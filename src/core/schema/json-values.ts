import { isPresent, type JsonRecord as Json } from '../text/record.ts';

export { isPresent, isRecord, type JsonRecord as Json } from '../text/record.ts';

/** A location inside an object: property names and list positions, `['spec', 'rules', 0]`. */
export type FieldPath = readonly (string | number)[];

/** Maps the items with `change`; returns the same list if no item changes. */
export function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let position = 0; position < items.length; position++) {
    const item = change(items[position]);
    if (changed === undefined && item !== items[position]) changed = items.slice(0, position);
    changed?.push(item);
  }
  return changed ?? items;
}

/** The value of an own property, never of a prototype; `undefined` if absent. */
export function property(json: Json, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

/** The type of a JSON value as a noun with article. */
export function describeJson(json: unknown): string {
  if (!isPresent(json)) return 'null';
  if (Array.isArray(json)) return 'a list';
  if (typeof json === 'number') return Number.isInteger(json) ? 'an integer' : 'a number';
  return typeof json === 'object' ? 'an object' : `a ${typeof json}`;
}
