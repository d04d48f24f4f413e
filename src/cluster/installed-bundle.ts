import type { KnownBundle } from '../core/admission/settings.ts';
import {
  bundlesOfSchema, isSameBundle, parseBundleVersion, parseChannel, supportedMinors, type Bundle, type Channel, type Minor,
} from '../core/schema/index.ts';
import type { InstalledKind } from '../kubernetes/index.ts';

const group = 'gateway.networking.k8s.io';

const newest: Minor = supportedMinors.at(-1) ?? '1.7';

/**
 * The bundle to judge objects of a kind by. A definition is recognised by its schema, whatever its annotations say:
 * they go when somebody copies a definition, and stay when somebody changes it. Kinds often stay as they are from one
 * bundle to the next. All that have this schema lead to the same findings, so the annotations may choose among them, and
 * else it is the newest.
 *
 * A schema that was never released (a vendor's, a prerelease's, one that came after this program) is read by the bundle
 * that the annotations name, and by the newest with all experimental fields where they name none that is known. Both
 * are guesses. Little is lost by not denying then: the API server has held the object against the real schema before it
 * asks.
 */
export function bundleOfKind(installed: InstalledKind | undefined): KnownBundle {
  const { minor, channel } = readAnnotations(installed);
  const released = installed === undefined ? [] : releasedAs(installed);
  const isAnnotated = (bundle: Bundle): boolean => (minor === undefined || minor === bundle.minor) && (channel === undefined || channel === bundle.channel);
  const bundle = released.findLast(isAnnotated) ?? released.at(-1);
  if (bundle !== undefined) return { bundle, certain: true };
  return { bundle: { minor: minor ?? newest, channel: channel ?? 'experimental' }, certain: false };
}

/**
 * The bundles, oldest first, that were released with exactly the schemas of a kind. Versions that the cluster does not
 * serve do not count: no request is ever of one.
 */
export function releasedAs({ name, versions }: InstalledKind): readonly Bundle[] {
  const [first = [], ...others] = versions.filter(({ served }) => served).map((version) => bundlesOfSchema(name, version.name, version.schemaHash));
  return first.filter((bundle) => others.every((bundles) => bundles.some((other) => isSameBundle(bundle, other))));
}

/** The bundle that the annotations of a definition name; `undefined` where they name none that was released. */
export function annotatedBundle(installed: InstalledKind): Bundle | undefined {
  const { minor, channel } = readAnnotations(installed);
  return minor === undefined || channel === undefined ? undefined : { minor, channel };
}

/** What the annotation of a definition says, `''` where it says nothing. */
export function bundleVersionOf(installed: InstalledKind | undefined): string {
  return installed?.annotations[`${group}/bundle-version`] ?? '';
}

function readAnnotations(installed: InstalledKind | undefined): { readonly minor: Minor | undefined; readonly channel: Channel | undefined } {
  const version = parseBundleVersion(bundleVersionOf(installed));
  const isReleased = version.ok && version.prerelease === undefined && supportedMinors.includes(version.minor);
  return { minor: isReleased ? version.minor : undefined, channel: parseChannel(installed?.annotations[`${group}/channel`]) };
}
