import type { Path } from '../resources/path.ts';
import type { Demand } from './demand.ts';
import type { Finding } from './rule.ts';

/** What is demanded at one place of the objects of a kind. */
export interface Site {
  /** `spec.rules[].filters`: `[]` stands for each item. Empty for the object itself. */
  readonly path: string;
  readonly demands: readonly Demand[];
}

/** Sites as a tree of the fields that lead to them, to be walked along with an object. */
export interface Place {
  readonly demands: Demand[];
  readonly fields: Map<string, Place>;
  /** Each item of a list. */
  each?: Place;
}

/** The tree of some sites. */
export function placesOf(sites: readonly Site[]): Place {
  const root = emptyPlace();
  for (const { path, demands } of sites) placeAt(root, path).demands.push(...demands);
  return root;
}

function placeAt(root: Place, path: string): Place {
  let place = root;
  for (const part of partsOf(path)) place = typeof part === 'number' ? (place.each ??= emptyPlace()) : fieldOf(place, part);
  return place;
}

/** A place where a site is, were each of its lists one item long: `spec.rules[]` → `['spec', 'rules', 0]`. */
export function partsOf(path: string): Path {
  return path === '' ? [] : path.replaceAll('[]', '.[]').split('.').map((part) => (part === '[]' ? 0 : part));
}

function fieldOf({ fields }: Place, name: string): Place {
  const place = fields.get(name) ?? emptyPlace();
  fields.set(name, place);
  return place;
}

function emptyPlace(): Place {
  return { demands: [], fields: new Map() };
}

/** Whether something other than null stands at a path. */
export function hasValue(json: unknown, path: Path): boolean {
  return valueAt(json, path) !== undefined;
}

/** What stands at a path; nothing for null. */
export function valueAt(json: unknown, path: Path): unknown {
  const value = path.reduce<unknown>((current, part) => (typeof current === 'object' && current !== null && Object.hasOwn(current, part) ? (current as Readonly<Record<string | number, unknown>>)[part] : undefined), json);
  return value ?? undefined;
}

/** What the demands of a tree find in a value that has the types of its table throughout. */
export function findAt(root: Place, value: unknown): readonly Finding[] {
  const found: Finding[] = [];
  visit(root, value, { path: [], found });
  return found;
}

interface Walk {
  /** Where the walk is: one list that grows and shrinks, since almost everything is fine. */
  readonly path: (string | number)[];
  readonly found: Finding[];
}

function visit(place: Place, value: unknown, walk: Walk): void {
  for (const demand of place.demands as readonly Demand<unknown>[]) {
    for (const { below, ...violation } of demand.judge(value)) walk.found.push({ rule: demand.rule, path: [...walk.path, ...below], ...violation });
  }
  if (typeof value !== 'object' || value === null) return;
  const { each } = place;
  if (each !== undefined && Array.isArray(value)) {
    for (let position = 0; position < value.length; position++) visitBelow(each, position, { value: value[position], walk });
  }
  for (const [name, below] of place.fields) {
    if (Object.hasOwn(value, name)) visitBelow(below, name, { value: (value as Readonly<Record<string, unknown>>)[name], walk });
  }
}

function visitBelow(place: Place, part: string | number, { value, walk }: { readonly value: unknown; readonly walk: Walk }): void {
  walk.path.push(part);
  visit(place, value, walk);
  walk.path.pop();
}
