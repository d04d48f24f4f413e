import type { JsonRecord as Json } from '../text/record.ts';

export { isRecord, type JsonRecord as Json } from '../text/record.ts';

/** A place inside an object: property names and list positions, `['spec', 'rules', 0]`. */
export type FieldPath = readonly (string | number)[];

/** In Kubernetes null is as good as absent. */
export function isPresent(json: unknown): boolean {
  return json !== null && json !== undefined;
}

/** The items, each as `change` returns it; the list itself where all stay the same. */
export function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let position = 0; position < items.length; position++) {
    const item = change(items[position]);
    if (changed === undefined && item !== items[position]) changed = items.slice(0, position);
    changed?.push(item);
  }
  return changed ?? items;
}

/** The value of an own property, never of a prototype; `undefined` where there is none. */
export function property(json: Json, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

/** A word for the type of a JSON value, with article. */
export function describeJson(json: unknown): string {
  if (!isPresent(json)) return 'null';
  if (Array.isArray(json)) return 'a list';
  if (typeof json === 'number') return Number.isInteger(json) ? 'an integer' : 'a number';
  return typeof json === 'object' ? 'an object' : `a ${typeof json}`;
}
