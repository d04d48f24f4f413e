import type { Installation } from '../core/graph/inputs.ts';
import { amongOthers, installationOf } from '../core/admission/installation.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import type { Bundle } from '../core/schema/index.ts';

/** GatewayClasses with this controllerName are ours. */
export const controllerName = 'sallyport.dev/gateway-controller';

/** The CRDs that are assumed where no cluster tells which ones are installed. */
export const assumedBundle: Bundle = { minor: '1.7', channel: 'experimental' };

/** What evaluation is told where files are all there is: nothing else could be seen. */
export function filesOnly(bundle: Bundle): Installation {
  return installationOf(bundle, controllerName);
}

/** What evaluation is told where the files are a part of a cluster: nothing is said of objects that are not among them. */
export function filesAmongOthers(bundle: Bundle): Installation {
  return amongOthers(filesOnly(bundle));
}

/** The policy of a profile without overrides. */
export function policyOf(profile: Profile, bundle: Bundle): AdmissionPolicy {
  return { profile, overrides: {}, bundle };
}
