import { annotatedBundle } from '../../cluster/installed-bundle.ts';
import { gatewayKinds, listedVersions, resourceOf } from '../../core/preflight/target.ts';
import {
  isSameBundle,
  parseChannel,
  tables,
  type Bundle,
  type Channel,
  type SchemaKind,
} from '../../core/schema/index.ts';
import type { InstalledKind } from '../../kubernetes/index.ts';
import type { DoctorFacts } from './facts.ts';

const group = 'gateway.networking.k8s.io';

/** The bundle in the suggested commands. */
export const newest = 'v1.7.0';

/** The plurals of the kinds that every bundle contains and that Sallyport requires. */
export const needed = [tables.GatewayClass, tables.Gateway, tables.HTTPRoute, tables.ReferenceGrant].map(
  ({ plural }) => plural,
);

/** Returns the command that installs a bundle. */
export function install(chosen: Channel, version = newest): string {
  return `kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/${version}/${chosen}-install.yaml`;
}

/** Returns the installed kinds of the Gateway API, of both groups. Empty if they are unknown. */
export function known(kinds: DoctorFacts['kinds']): readonly InstalledKind[] {
  return kinds.type === 'known' ? kinds.value : [];
}

/** Returns the kinds of the group of the Gateway API, without those of the experimental group `x-k8s.io`. */
export function ofGateway(kinds: readonly InstalledKind[]): readonly InstalledKind[] {
  return kinds.filter((kind) => kind.group === group);
}

/** Returns the bundle version in the annotations; `''` without one. */
export function versionOf({ annotations }: InstalledKind): string {
  return annotations[`${group}/bundle-version`] ?? '';
}

/** Returns the channel in the annotations. */
export function channelOf({ annotations }: InstalledKind): Channel | undefined {
  return parseChannel(annotations[`${group}/channel`]);
}

/** Returns the channel that all kinds have in common. */
export function commonChannel(kinds: readonly InstalledKind[]): Channel | undefined {
  const [first, ...others] = new Set(ofGateway(kinds).map(channelOf));
  return others.length === 0 ? first : undefined;
}

/** The bundle that is installed as a whole. */
export interface MainBundle {
  readonly bundle: Bundle;
  /** The release in the annotations, such as `v1.7.0`. */
  readonly version: string;
}

/** Returns the bundle of the kinds that every bundle contains; `undefined` if they name no release, or several. */
export function mainBundle(kinds: readonly InstalledKind[]): MainBundle | undefined {
  const [first, ...others] = ofGateway(kinds).filter(({ plural }) => needed.includes(plural));
  const bundle = first && annotatedBundle(first);
  if (first === undefined || bundle === undefined) return undefined;
  const isSame = (other: InstalledKind): boolean => {
    const annotated = annotatedBundle(other);
    return annotated !== undefined && isSameBundle(annotated, bundle) && versionOf(other) === versionOf(first);
  };
  return others.every(isSame) ? { bundle, version: versionOf(first) } : undefined;
}

/** Returns the names of the CRDs that the installed bundle contains and that are absent, such as `tlsroutes`. */
export function absentKinds(kinds: readonly InstalledKind[]): readonly string[] {
  const main = mainBundle(kinds);
  if (main === undefined) return [];
  const found = new Set(kinds.map(({ name }) => name));
  return gatewayKinds
    .filter((kind) => listedVersions(kind, main.bundle).length > 0)
    .map(resourceOf)
    .filter((name) => !found.has(name))
    .map((name) => name.replace(`.${group}`, ''));
}

/** Returns the kinds that the installed bundle does not contain. Nobody upgrades their CRDs. */
export function leftovers(kinds: readonly InstalledKind[]): readonly InstalledKind[] {
  const main = mainBundle(kinds);
  if (main === undefined) return [];
  return kinds.filter((installed) => {
    const kind = schemaKindOf(installed);
    return kind !== undefined && listedVersions(kind, main.bundle).length === 0;
  });
}

/** Returns the kinds of the Gateway API except for leftovers of other bundles. */
export function maintained(kinds: readonly InstalledKind[]): readonly InstalledKind[] {
  const left = new Set(leftovers(kinds));
  return ofGateway(kinds).filter((kind) => !left.has(kind));
}

/** Returns the kind that a CRD defines; `undefined` if no known bundle has it. */
export function schemaKindOf({ name }: Pick<InstalledKind, 'name'>): SchemaKind | undefined {
  return gatewayKinds.find((kind) => resourceOf(kind) === name);
}
