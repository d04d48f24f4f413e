import { installationOf } from '../core/admission/installation.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Installation } from '../core/graph/inputs.ts';
import { profiles, type Profile } from '../core/rules/engine/rule.ts';
import { channels, parseBundleVersion, supportedBundles, type Channel } from '../core/schema/index.ts';

/** The settings that objects are judged by. */
export interface Judgement {
  readonly policy: AdmissionPolicy;
  readonly installation: Installation;
}

interface Choices {
  readonly bundle: string;
  readonly channel: Channel;
  readonly profile: Profile;
  readonly controllerName: string;
}

/** Throws RangeError for an unsupported choice: callers in plain JavaScript have no type check. */
export function judgementOf({ bundle: version, channel, profile, controllerName }: Choices): Judgement {
  demandOneOf('channel', channel, channels);
  demandOneOf('profile', profile, profiles);
  const parsed = parseBundleVersion(version);
  if (!parsed.ok)
    throw new RangeError(
      `bundle ${JSON.stringify(version)}: ${parsed.problem}; known are ${supportedBundles.join(', ')}`,
    );
  const bundle = { minor: parsed.minor, channel };
  return { policy: { profile, overrides: {}, bundle }, installation: installationOf(bundle, controllerName) };
}

function demandOneOf(option: string, choice: string, offered: readonly string[]): void {
  if (!offered.includes(choice))
    throw new RangeError(`${option} ${JSON.stringify(choice)}; known are ${offered.join(', ')}`);
}
