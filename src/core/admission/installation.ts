import type { Installation } from '../graph/inputs.ts';
import { fieldIn, releases, schemaTables, tables, type Bundle, type KindName, type SchemaKind } from '../schema/index.ts';

/** What evaluation is told where objects are all there is: every CRD is of that bundle, and nothing else could be seen. */
export function installationOf(bundle: Bundle, controllerName: string): Installation {
  const kinds = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) => fieldIn(bundle, kind) !== undefined);
  const bundleVersions = { GatewayClass: releases[bundle.minor] };
  return { controllerName, bundleVersions, bundles: Object.fromEntries(kinds.map((kind) => [kind, bundle])), unobserved: [] };
}

/** The same where more objects may exist than can be seen: nothing is said of those that were not. */
export function amongOthers(installation: Installation): Installation {
  return { ...installation, unobserved: Object.keys(tables) as KindName[] };
}
