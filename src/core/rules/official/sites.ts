import { allVariants, resolveAll, type Bundle, type MaybeVersioned, type SchemaKind } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import type { Demand } from '../engine/demand.ts';
import type { Rule } from '../engine/rule.ts';

/**
 * The demands of bundles by path. `[]` in a path stands for each item of a list. Each demand has the releases and channels that
 * make it. Fields that a bundle does not have need no restriction by release.
 */
export type Sites = Readonly<Record<string, readonly MaybeVersioned<Demand>[]>>;

/** Returns the sites below each of several paths. */
export function below(places: readonly string[], sites: Sites): Sites {
  return merge(
    ...places.map((place) =>
      Object.fromEntries(Object.entries(sites).map(([path, demands]) => [join(place, path), demands])),
    ),
  );
}

function join(place: string, path: string): string {
  return path === '' || path.startsWith('[]') ? `${place}${path}` : `${place}.${path}`;
}

/** Merges the sites of several tables. If two tables have the same site, both demands apply. */
export function merge(...tables: readonly Sites[]): Sites {
  const merged: Record<string, readonly MaybeVersioned<Demand>[]> = {};
  for (const [path, demands] of tables.flatMap((table) => Object.entries(table)))
    merged[path] = [...(merged[path] ?? []), ...demands];
  return merged;
}

/** Sites of a kind. `versions` restricts them to some of its versions. */
export interface SiteGroup {
  readonly sites: Sites;
  readonly versions?: readonly string[];
}

/** Tables of sites, by kind. */
export type SiteTables = { readonly [K in SchemaKind]?: readonly SiteGroup[] };

/** Returns the kinds with demands of each rule, in any bundle: rule id → kinds. */
export function kindsByRule(tables: SiteTables): ReadonlyMap<string, readonly SchemaKind[]> {
  const kinds = new Map<string, Set<SchemaKind>>();
  for (const [kind, groups] of Object.entries(tables) as [SchemaKind, readonly SiteGroup[]][]) {
    for (const {
      rule: { id },
    } of demandsOf(groups))
      kinds.set(id, (kinds.get(id) ?? new Set()).add(kind));
  }
  return new Map([...kinds].map(([rule, set]) => [rule, [...set]]));
}

/** Returns the rules of the demands in a table, without duplicates, in the order of the table. */
export function rulesOf(tables: SiteTables): readonly Rule[] {
  const demands = Object.values(tables).flatMap((groups) => demandsOf(groups));
  return [...new Map(demands.map(({ rule }) => [rule.id, rule])).values()];
}

function demandsOf(groups: readonly SiteGroup[]): readonly Demand[] {
  return groups.flatMap(({ sites }) => Object.values(sites).flat()).flatMap((demand) => allVariants(demand));
}

/** The demands on one location of the objects of a kind. */
export interface Site {
  /** `spec.rules[].filters`, where `[]` stands for each item. Empty for the object itself. */
  readonly path: string;
  readonly demands: readonly Demand[];
}

/** Returns the sites of one version of a kind that apply in a bundle. */
export function sitesIn(groups: readonly SiteGroup[] | undefined, version: string, bundle: Bundle): readonly Site[] {
  const applicable = (groups ?? []).filter(({ versions }) => versions?.includes(version) ?? true);
  return applicable
    .flatMap(({ sites }) => Object.entries(sites))
    .flatMap(([path, demands]) => {
      const inForce = resolveAll(demands, bundle);
      return inForce.length === 0 ? [] : [{ path, demands: inForce }];
    });
}

/** Returns the path of a site in an object whose lists have one item: `spec.rules[]` → `['spec', 'rules', 0]`. */
export function partsOf(path: string): Path {
  return path === ''
    ? []
    : path
        .replaceAll('[]', '.[]')
        .split('.')
        .map((part) => (part === '[]' ? 0 : part));
}
