import { loadAll } from 'js-yaml';
import { channels, minors, type Bundle } from '../src/core/schema/availability.ts';
import { releases } from '../src/core/schema/bundle.ts';
import { gatewayApiModule } from './gateway-api-module.ts';
import { readZip } from './zip.ts';

/** A CustomResourceDefinition, as far as it is compared. */
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

/** Reads the CRDs of every release and channel, from the official Go modules. Throws where one cannot be had. */
export function officialBundles(): readonly OfficialBundle[] {
  return minors.flatMap((minor) => {
    const archive = gatewayApiModule(releases[minor]);
    return channels.map((channel) => ({ bundle: { minor, channel }, crds: readCrds(archive, channel) }));
  });
}

function readCrds(archive: Buffer, channel: string): readonly Crd[] {
  const files = readZip(archive, (name) => name.includes(`/config/crd/${channel}/`) && name.endsWith('.yaml'));
  const documents = [...files.values()].flatMap((text) => loadAll(text));
  return documents.filter((document): document is Crd => (document as Partial<Crd> | null)?.kind === 'CustomResourceDefinition');
}
