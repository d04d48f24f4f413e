import type { Path } from '../../resources/path.ts';
import { versionOf, type Bundle, type Examination, type SchemaKind, type WrittenObject } from '../../schema/index.ts';
import type { Demand } from '../demand.ts';
import type { Finding } from '../rule.ts';
import { officialSites, partsOf } from './table.ts';

/**
 * What the API server refuses in an object by the rules of a bundle's CRDs, its schema left out: in our words, at
 * paths at or below those that the API server names. Nothing for what the bundle does not have, nor for what has the
 * wrong type, of which the schema tells. What takes two objects to see is found by `judgeChange`. Never throws.
 *
 * @param stored what examining the object by the same bundle left of it
 */
export function judgeOfficially({ kind, apiVersion, json }: WrittenObject, { stored }: Pick<Examination, 'stored'>, bundle: Bundle): readonly Finding[] {
  const version = versionOf(kind, apiVersion, bundle);
  if (version === undefined || stored === undefined) return [];
  const found: Finding[] = [];
  visit(placesOf(kind, version.name, bundle), { value: stored, path: [], found });
  // What stands there but has the wrong type, or is no field of the bundle, is not missing: the schema tells of it.
  return found.filter(({ path }) => hasValue(stored, path) || !hasValue(json, path));
}

function hasValue(json: unknown, path: Path): boolean {
  const value = path.reduce<unknown>((current, part) => (typeof current === 'object' && current !== null && Object.hasOwn(current, part) ? (current as Readonly<Record<string | number, unknown>>)[part] : undefined), json);
  return value !== undefined && value !== null;
}

/** A place in objects of a kind, what is demanded there, and the places below. */
interface Place {
  readonly demands: Demand[];
  readonly fields: Map<string, Place>;
  /** Each item of a list. */
  each?: Place;
}

interface Visit {
  readonly value: unknown;
  readonly path: Path;
  readonly found: Finding[];
}

function visit(place: Place, { value, path, found }: Visit): void {
  // A view has the types of its table, so what stands at a site is what its demands are about.
  for (const demand of place.demands as readonly Demand<unknown>[]) {
    for (const { below, ...violation } of demand.judge(value)) found.push({ rule: demand.rule, path: [...path, ...below], ...violation });
  }
  const { each } = place;
  if (each !== undefined && Array.isArray(value)) value.forEach((item: unknown, index) => visit(each, { value: item, path: [...path, index], found }));
  if (typeof value !== 'object' || value === null) return;
  for (const [name, below] of place.fields) {
    if (Object.hasOwn(value, name)) visit(below, { value: (value as Readonly<Record<string, unknown>>)[name], path: [...path, name], found });
  }
}

// Sites never change: places are built once for each version of a kind in a bundle.
const known = new Map<string, Place>();

function placesOf(kind: SchemaKind, version: string, bundle: Bundle): Place {
  const key = `${kind} ${version} ${bundle.minor} ${bundle.channel}`;
  let root = known.get(key);
  if (root === undefined) {
    root = emptyPlace();
    for (const { path, demands } of officialSites(kind, version, bundle)) placeAt(root, path).demands.push(...demands);
    known.set(key, root);
  }
  return root;
}

function placeAt(root: Place, path: string): Place {
  let place = root;
  for (const part of partsOf(path)) place = typeof part === 'number' ? (place.each ??= emptyPlace()) : fieldOf(place, part);
  return place;
}

function fieldOf({ fields }: Place, name: string): Place {
  const place = fields.get(name) ?? emptyPlace();
  fields.set(name, place);
  return place;
}

function emptyPlace(): Place {
  return { demands: [], fields: new Map() };
}
