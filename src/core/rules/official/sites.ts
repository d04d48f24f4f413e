import type { MaybeVersioned } from '../../schema/index.ts';
import type { Demand } from '../demand.ts';

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
