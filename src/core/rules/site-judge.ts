import type { Path } from '../resources/path.ts';
import { versionOf, type Bundle, type WrittenObject } from '../schema/index.ts';
import { displayLimit, printable } from '../text/display.ts';
import type { Demand, Violation } from './demand.ts';
import { partsOf, sitesIn, type Site, type SiteTables } from './official/sites.ts';
import { longestMessage, type Finding } from './rule.ts';

/**
 * Finds what breaks the demands of some tables in an object.
 *
 * @param view the object as the bundle reads it: of its fields, those that have the types of the kind's table
 */
export type SiteJudge = (object: WrittenObject, view: unknown, bundle: Bundle) => readonly Finding[];

/** A judge by some tables. It finds nothing in objects of versions that a bundle does not have, and never throws. */
export function siteJudge(tables: SiteTables): SiteJudge {
  // Sites never change: their tree is built once for each version of a kind in a bundle.
  const known = new Map<string, Place>();
  return ({ kind, apiVersion, json }, view, bundle) => {
    const version = versionOf(kind, apiVersion, bundle)?.name;
    if (version === undefined) return [];
    const key = `${kind} ${version} ${bundle.minor} ${bundle.channel}`;
    const root = known.get(key) ?? placesOf(sitesIn(tables[kind], version, bundle));
    known.set(key, root);
    const found: Finding[] = [];
    visit(root, view, { path: [], found });
    // What stands there but has the wrong type, or is no field of the bundle, is not missing: the schema tells of it.
    return found.filter(({ path }) => valueAt(view, path) !== undefined || valueAt(json, path) === undefined);
  };
}

/** What stands at a path; nothing for null. */
export function valueAt(json: unknown, path: Path): unknown {
  const value = path.reduce<unknown>((current, part) => (typeof current === 'object' && current !== null && Object.hasOwn(current, part) ? (current as Readonly<Record<string | number, unknown>>)[part] : undefined), json);
  return value ?? undefined;
}

/** Sites as a tree of the fields that lead to them, to be walked along with an object. */
interface Place {
  readonly demands: Demand[];
  readonly fields: Map<string, Place>;
  /** Each item of a list. */
  each?: Place;
}

function placesOf(sites: readonly Site[]): Place {
  const root = emptyPlace();
  for (const { path, demands } of sites) placeAt(root, path).demands.push(...demands);
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

interface Walk {
  /** Where the walk is: one list that grows and shrinks, since almost everything is fine. */
  readonly path: (string | number)[];
  readonly found: Finding[];
}

function visit(place: Place, value: unknown, walk: Walk): void {
  // A view has the types of its table, so what stands at a site is what its demands are about.
  for (const demand of place.demands as readonly Demand<unknown>[]) {
    for (const violation of demand.judge(value)) walk.found.push(findingOf(demand.rule, violation, walk.path));
  }
  if (typeof value !== 'object' || value === null) return;
  const { each } = place;
  if (each !== undefined && Array.isArray(value)) {
    for (let position = 0; position < value.length; position++) visitBelow(each, position, { value: value[position], walk });
  }
  for (const [name, below] of place.fields) {
    // No field has the name of anything that a prototype has; asking for own properties alone takes longer than all the rest.
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (inner !== undefined) visitBelow(below, name, { value: inner, walk });
  }
}

function findingOf(rule: string, { below, message, value }: Violation, path: Path): Finding {
  const finding = { rule, path: [...path, ...below], message: printable(message, longestMessage) };
  return value === undefined ? finding : { ...finding, value: printable(value, displayLimit) };
}

function visitBelow(place: Place, part: string | number, { value, walk }: { readonly value: unknown; readonly walk: Walk }): void {
  walk.path.push(part);
  visit(place, value, walk);
  walk.path.pop();
}
