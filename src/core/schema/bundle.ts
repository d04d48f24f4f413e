import { channels, minors, type Bundle, type Channel, type Minor } from './availability.ts';
import { knownSchemas } from './known-schemas.ts';

/** The releases whose tables are complete, oldest first. */
export const supportedMinors: readonly Minor[] = minors;

/** The last patch release of each minor, which the tables follow. */
export const releases: Readonly<Record<Minor, string>> = {
  '1.0': 'v1.0.0',
  '1.1': 'v1.1.1',
  '1.2': 'v1.2.1',
  '1.3': 'v1.3.0',
  '1.4': 'v1.4.1',
  '1.5': 'v1.5.1',
  '1.6': 'v1.6.3',
  '1.7': 'v1.7.0',
};

/** The supported minors in texts: `v1.7`. */
export const supportedBundles: readonly string[] = supportedMinors.map((minor) => `v${minor}`);

/** The value of the annotation `gateway.networking.k8s.io/bundle-version` of a CRD. */
export type BundleVersion =
  /** `prerelease` is `rc.1`, `dev` …: the schema may be anything between two releases. */
  | { readonly ok: true; readonly minor: Minor; readonly prerelease?: string }
  | { readonly ok: false; readonly problem: string };

const versionForm = /^v?(?<minor>[0-9]{1,4}\.[0-9]{1,4})(?:\.[0-9]{1,6})?(?:-(?<prerelease>[0-9A-Za-z.-]{1,64}))?$/;

/**
 * Parses a bundle version such as `v1.7.0`; `v` and the patch number are optional. Annotations may be stale, missing or from
 * a development build: the problem then names the value and the expected form. Never throws.
 */
export function parseBundleVersion(annotation: unknown): BundleVersion {
  if (typeof annotation !== 'string' || annotation === '') return { ok: false, problem: 'no bundle version is set' };
  const parts = versionForm.exec(annotation.trim())?.groups;
  const prerelease = parts?.['prerelease'];
  const minor = minors.find((known) => known === parts?.['minor']);
  if (parts === undefined) return { ok: false, problem: 'it is not a version. Use a version such as v1.7.0' };
  if (minor === undefined) return { ok: false, problem: `not a release from v${minors[0]} to v${minors.at(-1)}` };
  return prerelease === undefined ? { ok: true, minor } : { ok: true, minor, prerelease };
}

/** Whether the tables describe exactly this bundle. Prereleases may differ from the release and are not supported. */
export function isSupportedBundle(annotation: unknown): boolean {
  const version = parseBundleVersion(annotation);
  return version.ok && version.prerelease === undefined && supportedMinors.includes(version.minor);
}

/** Parses the annotation `gateway.networking.k8s.io/channel`. The standard channel was once called stable. */
export function parseChannel(annotation: unknown): Channel | undefined {
  if (annotation === 'standard' || annotation === 'stable') return 'standard';
  return annotation === 'experimental' ? 'experimental' : undefined;
}

const bundles: ReadonlyMap<string, Bundle> = new Map(
  minors.flatMap((minor) => channels.map((channel) => [`${minor}/${channel}`, { minor, channel }])),
);

/**
 * The bundles released with exactly this schema for a version of a kind, oldest first; empty if there is none. Never throws.
 *
 * @param definition `httproutes.gateway.networking.k8s.io`
 * @param hash of the schema in the CRD, as computed in `src/kubernetes`
 */
export function bundlesOfSchema(definition: string, version: string, hash: string): readonly Bundle[] {
  const names = knownSchemas[`${definition}/${version} ${hash}`]?.split(' ') ?? [];
  return names.map((name) => bundles.get(name)).filter((bundle) => bundle !== undefined);
}

export function isSameBundle(left: Bundle, right: Bundle): boolean {
  return left.minor === right.minor && left.channel === right.channel;
}
