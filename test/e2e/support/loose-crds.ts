import { loadAll } from 'js-yaml';
import { crdManifests } from '../../cluster/crd-manifests.ts';
import { apply } from './kubectl.ts';

interface Definition {
  readonly kind: string;
  readonly spec: { readonly versions: readonly object[] };
}

/** A schema that refuses nothing and keeps everything, as where somebody has edited the CRDs. */
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

/** Makes the CRDs of a bundle that is installed take everything; `installCrds` puts them back. */
export async function loosenCrds(version: string, channel: 'standard' | 'experimental'): Promise<void> {
  const documents = loadAll(crdManifests(version, channel)) as readonly (Definition | null)[];
  const definitions = documents
    .filter((document) => document?.kind === 'CustomResourceDefinition')
    .map((document) => document as Definition);
  await apply(
    ...definitions.map(({ spec, ...rest }) => ({
      ...rest,
      spec: { ...spec, versions: spec.versions.map((one) => ({ ...one, schema })) },
    })),
  );
}
