import {
  allVariants,
  resolveAll,
  type At,
  type BackendTlsPolicyAlpha2,
  type Bundle,
  type MaybeVersioned,
  type SchemaKind,
  type schemaTables,
  type View,
} from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import type { Demand } from '../engine/demand.ts';
import type { Rule } from '../engine/rule.ts';
import type { WholeObject } from '../engine/written-object.ts';

/**
 * The demands of bundles by path. `[]` in a path stands for each item of a list. Each demand has the releases and channels that
 * make it. Fields that a bundle does not have need no restriction by release. A table keeps its literal type, without the
 * annotation `Sites`: `fitting` compares its paths and demands with the kind.
 */
export type Sites = Readonly<Record<string, readonly MaybeVersioned<Demand>[]>>;

/** An object of a kind as demands see it. */
type Judged<K extends SchemaKind> = WholeObject & (View<(typeof schemaTables)[K]['body']> | View<OlderBody<K>>);
type OlderBody<K> = K extends 'BackendTLSPolicy' ? BackendTlsPolicyAlpha2 : never;

/** The requirement on sites of objects `V`: each path exists, and its demands accept the value there. */
export type Fitting<V, S> = {
  readonly [P in keyof S]: P extends string ? DemandsOn<At<V, P>> : never;
};

type DemandsOn<V> = [V] extends [never] ? never : readonly MaybeVersioned<Demand<V>>[];

/** Returns sites unchanged. The compiler reports a path that the kind does not have, and a demand on another type of value. */
export function fitting<K extends SchemaKind, S extends Sites>(_kind: K, sites: S & Fitting<Judged<K>, S>): Sites {
  return sites;
}

type Below<P extends string, S> = { readonly [K in keyof S & string as Joined<P, K>]: S[K] };
type Joined<P extends string, K extends string> = K extends '' ? P : K extends `[]${string}` ? `${P}${K}` : `${P}.${K}`;

/** Returns the sites below each of several paths. */
export function below<const P extends string, S extends Sites>(places: readonly P[], sites: S): Below<P, S> {
  const entries = places.map((place) =>
    Object.fromEntries(Object.entries(sites).map(([path, demands]) => [join(place, path), demands])),
  );
  return merge(...entries) as Below<P, S>;
}

function join(place: string, path: string): string {
  return path === '' || path.startsWith('[]') ? `${place}${path}` : `${place}.${path}`;
}

type Merged<T> = { readonly [P in PathsOf<T>]: T extends { readonly [Q in P]: infer D } ? D : never };
type PathsOf<T> = T extends unknown ? keyof T & string : never;

/** Merges the sites of several tables. If two tables have the same site, both demands apply. */
export function merge<T extends readonly Sites[]>(...tables: T): Merged<T[number]> {
  const merged: Record<string, readonly MaybeVersioned<Demand>[]> = {};
  for (const [path, demands] of tables.flatMap((table) => Object.entries(table)))
    merged[path] = [...(merged[path] ?? []), ...demands];
  return merged as Merged<T[number]>;
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
