import type { Installation } from '../graph/inputs.ts';
import { fieldIn, releases, schemaTables, type Bundle, type SchemaKind } from '../schema/index.ts';

/** What evaluation is told where objects are all there is: every CRD is of that bundle, and nothing else could be seen. */
export function installationOf(bundle: Bundle, controllerName: string): Installation {
  const kinds = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) => fieldIn(bundle, kind) !== undefined);
  return { controllerName, bundleVersion: releases[bundle.minor], bundles: Object.fromEntries(kinds.map((kind) => [kind, bundle])), unobserved: [] };
}
