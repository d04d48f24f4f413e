import type { Installation } from '../core/graph/inputs.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Profile } from '../core/rules/rule.ts';
import type { Channel } from '../core/schema/index.ts';

/** GatewayClasses with this controllerName are ours. */
export const controllerName = 'sallyport.dev/gateway-controller';

/** The bundle that is assumed where no cluster tells which one is installed. */
export const assumedBundle = 'v1.7.0';

/** What evaluation is told where files are all there is: nothing else could be seen. */
export const filesOnly: Installation = { controllerName, bundleVersion: assumedBundle, unobserved: [] };

/** The policy of a profile without overrides, for the assumed bundle. */
export function policyOf(profile: Profile, channel: Channel): AdmissionPolicy {
  return { profile, overrides: {}, bundle: { minor: '1.7', channel } };
}
