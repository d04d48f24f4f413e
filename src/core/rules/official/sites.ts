import { allVariants, resolveAll, type Bundle, type MaybeVersioned, type SchemaKind } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import type { Demand } from '../engine/demand.ts';
import type { Rule } from '../engine/rule.ts';

/**
 * Where bundles demand what: a path, in which `[]` stands for each item of a list, → the demands made there, each
 * with the releases and channels in which it is made. What a bundle does not have needs no release of its own.
 */
export type Sites = Readonly<Record<string, readonly MaybeVersioned<Demand>[]>>;

/** The same sites below each of several places. */
export function below(places: readonly string[], sites: Sites): Sites {
  return merge(...places.map((place) => Object.fromEntries(Object.entries(sites).map(([path, demands]) => [join(place, path), demands]))));
}

function join(place: string, path: string): string {
  return path === '' || path.startsWith('[]') ? `${place}${path}` : `${place}.${path}`;
}

/** All sites of several tables; where two have a site in common, both demands are made. */
export function merge(...tables: readonly Sites[]): Sites {
  const merged: Record<string, readonly MaybeVersioned<Demand>[]> = {};
  for (const [path, demands] of tables.flatMap((table) => Object.entries(table))) merged[path] = [...(merged[path] ?? []), ...demands];
  return merged;
}

/** Sites of a kind; `versions` where only some of its versions have them. */
export interface SiteGroup {
  readonly sites: Sites;
  readonly versions?: readonly string[];
}

/** Tables of sites, by kind. */
export type SiteTables = { readonly [K in SchemaKind]?: readonly SiteGroup[] };

/** The kinds of which each rule demands something, in whatever bundle: rule id → kinds. */
export function kindsByRule(tables: SiteTables): ReadonlyMap<string, readonly SchemaKind[]> {
  const kinds = new Map<string, Set<SchemaKind>>();
  for (const [kind, groups] of Object.entries(tables) as [SchemaKind, readonly SiteGroup[]][]) {
    for (const { rule: { id } } of demandsOf(groups)) kinds.set(id, (kinds.get(id) ?? new Set()).add(kind));
  }
  return new Map([...kinds].map(([rule, set]) => [rule, [...set]]));
}

/** The rules by which some tables judge, each once, in the order of the tables. */
export function rulesOf(tables: SiteTables): readonly Rule[] {
  const demands = Object.values(tables).flatMap((groups) => demandsOf(groups));
  return [...new Map(demands.map(({ rule }) => [rule.id, rule])).values()];
}

function demandsOf(groups: readonly SiteGroup[]): readonly Demand[] {
  return groups.flatMap(({ sites }) => Object.values(sites).flat()).flatMap((demand) => allVariants(demand));
}

/** What is demanded at one place of the objects of a kind. */
export interface Site {
  /** `spec.rules[].filters`: `[]` stands for each item. Empty for the object itself. */
  readonly path: string;
  readonly demands: readonly Demand[];
}

/** The sites of one version of a kind that are in force in a bundle. */
export function sitesIn(groups: readonly SiteGroup[] | undefined, version: string, bundle: Bundle): readonly Site[] {
  const applicable = (groups ?? []).filter(({ versions }) => versions?.includes(version) ?? true);
  return applicable.flatMap(({ sites }) => Object.entries(sites)).flatMap(([path, demands]) => {
    const inForce = resolveAll(demands, bundle);
    return inForce.length === 0 ? [] : [{ path, demands: inForce }];
  });
}

/** A place where a site is, were each of its lists one item long: `spec.rules[]` → `['spec', 'rules', 0]`. */
export function partsOf(path: string): Path {
  return path === '' ? [] : path.replaceAll('[]', '.[]').split('.').map((part) => (part === '[]' ? 0 : part));
}
