import type { Installation } from '../core/graph/inputs.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Profile } from '../core/rules/rule.ts';
import { fieldIn, releases, schemaTables, type Bundle, type SchemaKind } from '../core/schema/index.ts';

/** GatewayClasses with this controllerName are ours. */
export const controllerName = 'sallyport.dev/gateway-controller';

/** The CRDs that are assumed where no cluster tells which ones are installed. */
export const assumedBundle: Bundle = { minor: '1.7', channel: 'experimental' };

/** What evaluation is told where files are all there is: nothing else could be seen. */
export function filesOnly(bundle: Bundle): Installation {
  const kinds = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) => fieldIn(bundle, kind) !== undefined);
  return { controllerName, bundleVersion: releases[bundle.minor], bundles: Object.fromEntries(kinds.map((kind) => [kind, bundle])), unobserved: [] };
}

/** The policy of a profile without overrides. */
export function policyOf(profile: Profile, bundle: Bundle): AdmissionPolicy {
  return { profile, overrides: {}, bundle };
}
