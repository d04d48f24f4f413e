import { mainBundle, ofGateway } from '../../cluster/main-bundle.ts';
import { gatewayKinds, listedVersions, resourceOf } from '../../core/preflight/target.ts';
import { gatewayGroup, parseChannel, type Channel, type SchemaKind } from '../../core/schema/index.ts';
import type { InstalledKind } from '../../kubernetes/index.ts';
import type { DoctorFacts } from './facts.ts';

/** The bundle in the suggested commands. */
export const newest = 'v1.7.0';

/** Returns the command that installs a bundle. */
export function install(chosen: Channel, version = newest): string {
  return `kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/${version}/${chosen}-install.yaml`;
}

/** Returns the installed kinds of the Gateway API, of both groups. Empty if they are unknown. */
export function known(kinds: DoctorFacts['kinds']): readonly InstalledKind[] {
  return kinds.type === 'known' ? kinds.value : [];
}

/** Returns the channel in the annotations. */
export function channelOf({ annotations }: InstalledKind): Channel | undefined {
  return parseChannel(annotations[`${gatewayGroup}/channel`]);
}

/** Returns the channel that all kinds have in common. */
export function commonChannel(kinds: readonly InstalledKind[]): Channel | undefined {
  const [first, ...others] = new Set(ofGateway(kinds).map(channelOf));
  return others.length === 0 ? first : undefined;
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
