import type { Installation } from '../graph/inputs.ts';
import {
  fieldIn,
  isSchemaKind,
  releases,
  schemaTables,
  tables,
  type Bundle,
  type KindName,
  type SchemaKind,
} from '../schema/index.ts';
import type { KnownBundle } from './settings.ts';

/** The installation for evaluation of files alone: every CRD is of the given bundle, and no other objects exist. */
export function installationOf(bundle: Bundle, controllerName: string): Installation {
  const kinds = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) => fieldIn(bundle, kind) !== undefined);
  const bundleVersions = { GatewayClass: releases[bundle.minor] };
  return {
    controllerName,
    bundleVersions,
    bundles: Object.fromEntries(kinds.map((kind) => [kind, bundle])),
    unobserved: [],
  };
}

/** The same installation if some of its objects are HostnamePolicies, for objects that come from files. */
export function withHostnamePolicies(installation: Installation, kinds: Iterable<string>): Installation {
  return installation.hostnamePolicies !== true && new Set(kinds).has('HostnamePolicy')
    ? { ...installation, hostnamePolicies: true }
    : installation;
}

/** The bundle by which objects of a kind are judged; `otherwise` for a kind that is not installed. */
export function installedBundle({ bundles, guessed = [] }: Installation, kind: string, otherwise: Bundle): KnownBundle {
  const bundle = isSchemaKind(kind) ? bundles[kind] : undefined;
  return { bundle: bundle ?? otherwise, certain: !(guessed as readonly string[]).includes(kind) };
}

/** The same installation if objects may exist that are not visible: no finding relies on the absence of an object. */
export function amongOthers(installation: Installation): Installation {
  return { ...installation, unobserved: Object.keys(tables) as KindName[] };
}
