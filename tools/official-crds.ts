import { loadAll } from 'js-yaml';
import { channels, minors, type Bundle, type Minor } from '../src/core/schema/availability.ts';
import { releases } from '../src/core/schema/bundle.ts';
import { gatewayApiModule } from './gateway-api-module.ts';
import { readZip } from './zip.ts';

/** The compared parts of a CustomResourceDefinition. */
export interface Crd {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly CrdVersion[];
  };
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly schema: { readonly openAPIV3Schema: unknown };
}

/** The official CRDs of one bundle. */
export interface OfficialBundle {
  readonly bundle: Bundle;
  readonly crds: readonly Crd[];
}

/** Patch releases before the last one of each minor release, if the module proxy has them. */
const earlierReleases: Readonly<Record<Minor, readonly string[]>> = {
  '1.0': [],
  '1.1': ['v1.1.0'],
  '1.2': ['v1.2.0'],
  '1.3': [],
  '1.4': ['v1.4.0'],
  '1.5': ['v1.5.0'],
  '1.6': ['v1.6.0', 'v1.6.1', 'v1.6.2'],
  '1.7': [],
};

/** Reads the CRDs of the last patch release of every minor release, from the official Go modules. Throws if one is unavailable. */
export function officialBundles(): readonly OfficialBundle[] {
  return minors.flatMap((minor) => readBundles(minor, releases[minor]));
}

/** Reads the CRDs of the patch releases before those. Throws if one is unavailable. */
export function earlierBundles(): readonly OfficialBundle[] {
  return minors.flatMap((minor) => earlierReleases[minor].flatMap((release) => readBundles(minor, release)));
}

function readBundles(minor: Minor, release: string): readonly OfficialBundle[] {
  const archive = gatewayApiModule(release);
  return channels.map((channel) => ({ bundle: { minor, channel }, crds: readCrds(archive, channel) }));
}

function readCrds(archive: Buffer, channel: string): readonly Crd[] {
  const files = readZip(archive, (name) => name.includes(`/config/crd/${channel}/`) && name.endsWith('.yaml'));
  const documents = [...files.values()].flatMap((text) => loadAll(text));
  return documents.filter(
    (document): document is Crd => (document as Partial<Crd> | null)?.kind === 'CustomResourceDefinition',
  );
}
