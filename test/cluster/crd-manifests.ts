import { loadAll } from 'js-yaml';
import { gatewayApiModule } from '../../tools/gateway-api-module.ts';
import { readZip } from '../../tools/zip.ts';

/**
 * The official installation of one bundle as a stream of YAML documents: CRDs and, in newer bundles, the policy that
 * refuses unsafe upgrades. `version` as in v1.7.0; `channel` is standard or experimental. Throws where there is none.
 */
export function crdManifests(version: string, channel: string): string {
  const files = readZip(
    gatewayApiModule(version),
    (name) => name.includes(`/config/crd/${channel}/`) && /\.ya?ml$/.test(name),
  );
  const manifests = [...files.values()].filter((text) => loadAll(text).some((document) => isInstallable(document)));
  if (manifests.length === 0) throw new Error(`Gateway API ${version} has no channel ${channel}`);
  return manifests.join('\n---\n');
}

function isInstallable(document: unknown): boolean {
  const { kind, apiVersion } = (document ?? {}) as { readonly kind?: string; readonly apiVersion?: string };
  return apiVersion !== undefined && kind !== undefined && kind !== 'Kustomization';
}
