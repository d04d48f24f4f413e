import type { KnownBundle } from '../core/admission/settings.ts';
import {
  bundlesOfSchema,
  gatewayGroup,
  isSameBundle,
  parseBundleVersion,
  parseChannel,
  supportedMinors,
  type Bundle,
  type Channel,
  type Minor,
} from '../core/schema/index.ts';
import type { InstalledKind } from '../kubernetes/index.ts';

/** The annotations of a definition that name its bundle. */
export const bundleVersionAnnotation = `${gatewayGroup}/bundle-version`;
export const bundleChannelAnnotation = `${gatewayGroup}/channel`;

/** The part of a definition that names its bundle. */
export type Annotated = Pick<InstalledKind, 'annotations'>;

const newest: Minor = supportedMinors.at(-1) ?? '1.7';

/**
 * The bundle to judge objects of a kind by. A definition is recognized by its schema, not by its annotations: these get lost when a
 * definition is copied, and stay when it is changed. The schema of a kind is often the same in several bundles. All of them lead to
 * the same findings, so the annotations choose among them, and otherwise the newest applies.
 *
 * A schema that was never released (by a vendor, in a prerelease, or after this program) is judged by the bundle in the annotations,
 * or by the newest with all experimental fields if they name no known bundle. Both are guesses, so findings do not deny. Little is
 * lost by that: the API server has validated the object with the real schema before it calls the webhook.
 */
export function bundleOfKind(installed: InstalledKind | undefined): KnownBundle {
  const { minor, channel } = readAnnotations(installed);
  const released = installed === undefined ? [] : releasedAs(installed);
  const isAnnotated = (bundle: Bundle): boolean =>
    (minor === undefined || minor === bundle.minor) && (channel === undefined || channel === bundle.channel);
  const bundle = released.findLast(isAnnotated) ?? released.at(-1);
  if (bundle !== undefined) return { bundle, certain: true };
  return { bundle: { minor: minor ?? newest, channel: channel ?? 'experimental' }, certain: false };
}

/**
 * The bundles, oldest first, that were released with exactly the schemas of a kind. Versions that the cluster does not serve are
 * ignored, because no request uses them.
 */
export function releasedAs({ name, versions }: InstalledKind): readonly Bundle[] {
  const [first = [], ...others] = versions
    .filter(({ served }) => served)
    .map((version) => bundlesOfSchema(name, version.name, version.schemaHash));
  return first.filter((bundle) => others.every((bundles) => bundles.some((other) => isSameBundle(bundle, other))));
}

/** The bundle in the annotations of a definition. `undefined` if they name no released one. */
export function annotatedBundle(installed: Annotated): Bundle | undefined {
  const { minor, channel } = readAnnotations(installed);
  return minor === undefined || channel === undefined ? undefined : { minor, channel };
}

/** The bundle version in the annotations of a definition. `''` without one. */
export function bundleVersionOf(installed: Annotated | undefined): string {
  return installed?.annotations[bundleVersionAnnotation] ?? '';
}

function readAnnotations(installed: Annotated | undefined): {
  readonly minor: Minor | undefined;
  readonly channel: Channel | undefined;
} {
  const version = parseBundleVersion(bundleVersionOf(installed));
  const isReleased = version.ok && version.prerelease === undefined && supportedMinors.includes(version.minor);
  return {
    minor: isReleased ? version.minor : undefined,
    channel: parseChannel(installed?.annotations[bundleChannelAnnotation]),
  };
}
