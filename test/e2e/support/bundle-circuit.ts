import { channels, minors, type Bundle } from '../../../src/core/schema/index.ts';

/** A change of CRDs from one bundle to another. */
export interface BundleChange {
  readonly from: Bundle;
  readonly to: Bundle;
}

/** The changes that preflight must predict: to the next and the previous minor version, and to the other channel. */
export function consecutiveChanges(): readonly BundleChange[] {
  const bundles = minors.flatMap((minor) => channels.map((channel): Bundle => ({ minor, channel })));
  return bundles.flatMap((from) =>
    bundles.filter((to) => distanceOf(from, to) === 1).map((to): BundleChange => ({ from, to })),
  );
}

function distanceOf(one: Bundle, other: Bundle): number {
  const minorVersions = Math.abs(minors.indexOf(one.minor) - minors.indexOf(other.minor));
  return minorVersions + (one.channel === other.channel ? 0 : 1);
}

/**
 * Orders all consecutive changes so that each starts with the bundle that the one before installed (an Eulerian circuit by Hierholzer's
 * algorithm: each bundle is left as often as it is entered). Bundles are then installed once per change.
 */
export function circuit(changes: readonly BundleChange[]): readonly BundleChange[] {
  const left = Map.groupBy(changes, ({ from }) => keyOf(from));
  const [first] = changes;
  if (first === undefined) return [];
  const path: Bundle[] = [first.from];
  const visited: Bundle[] = [];
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const next = left.get(keyOf(at))?.pop();
    if (next === undefined) visited.push(...path.splice(-1));
    else path.push(next.to);
  }
  const bundles = visited.toReversed();
  return bundles.slice(1).map((to, index): BundleChange => ({ from: bundles[index] ?? to, to }));
}

function keyOf({ minor, channel }: Bundle): string {
  return `${minor} ${channel}`;
}
