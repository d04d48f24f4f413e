import {
  parseBundleVersion, parseChannel, supportedMinors, type Bundle, type Minor,
} from '../core/schema/index.ts';
import type { InstalledKind } from '../kubernetes/index.ts';

const group = 'gateway.networking.k8s.io';

/** Which schema to judge objects of a kind by. */
export interface KnownBundle {
  readonly bundle: Bundle;
  /** False where that is a guess: what only contradicts the schema must then not be denied. */
  readonly certain: boolean;
}

const newest: Minor = supportedMinors.at(-1) ?? '1.7';

/**
 * The bundle that a kind's definition is of, by its annotations. A bundle that is not known, a prerelease, or a
 * definition without annotations is read by the newest known schema with all experimental fields, as a guess.
 */
export function bundleOfKind(installed: InstalledKind | undefined): KnownBundle {
  const version = parseBundleVersion(bundleVersionOf(installed));
  const channel = parseChannel(installed?.annotations[`${group}/channel`]);
  const isKnown = version.ok && version.prerelease === undefined && supportedMinors.includes(version.minor);
  if (isKnown && channel !== undefined) return { bundle: { minor: version.minor, channel }, certain: true };
  return { bundle: { minor: isKnown ? version.minor : newest, channel: channel ?? 'experimental' }, certain: false };
}

/** What the annotation of a definition says, `''` where it says nothing. */
export function bundleVersionOf(installed: InstalledKind | undefined): string {
  return installed?.annotations[`${group}/bundle-version`] ?? '';
}
