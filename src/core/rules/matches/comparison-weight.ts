import type { ServedRouteKind } from '../../graph/protocols.ts';
import type { Resource } from '../../resources/resource.ts';
import { servedMatches } from './served-matches.ts';

/** The number of entries that one unit of weight stands for: 1,024 units take 0.1 to 0.2 s of CPU. */
const entriesPerUnit = 64;
/**
 * The maximum number of entries of one route, and of keys that it looks up. A route beyond it is not compared completely, and takes no
 * more memory.
 */
export const maxEntries = 4_096;
/** A match contributes entries for its path and the prefixes that contain it, with and without its conditions. */
const classes = 2;
/** Hostnames have about as many wider ones: `*.example.com`, `*.com` and any. */
const widerHostnames = 3;

/** The estimated number of entries about one hostname of a route. */
interface ComparisonSize {
  /** For routes with the same hostname. */
  readonly same: number;
  /** For routes with wider hostnames. */
  readonly wider: number;
}

/** Returns the estimated number of entries that one hostname of a route has in the comparison with routes of other namespaces. */
export function comparisonSize(route: Resource<ServedRouteKind>): ComparisonSize {
  let prefixes = 0;
  let matches = 0;
  for (const { path } of servedMatches(route, []).flat()) {
    matches++;
    prefixes += path.value.replaceAll(/[^/]/g, '').length;
  }
  return { same: classes * prefixes, wider: classes * widerHostnames * (matches * 2 + prefixes) };
}

/** Returns the names of the further units of a number of entries: the first unit is the route itself. */
export function* furtherUnits(route: string, entries: number): Generator<string> {
  const units = Math.ceil(Math.min(entries, maxEntries) / entriesPerUnit);
  for (let unit = 1; unit < units; unit++) yield `${route} ${unit}`;
}
