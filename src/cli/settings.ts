import type { Installation } from '../core/graph/inputs.ts';
import { amongOthers, installationOf } from '../core/admission/installation.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import type { Bundle } from '../core/schema/index.ts';
import { today } from '../webhook/today.ts';
import type { ConfiguredJudging } from '../workspace/workspace.ts';
import { controllerName } from './names.ts';

/** The CRDs to assume if no cluster tells which ones are installed. */
export const assumedBundle: Bundle = { minor: '1.7', channel: 'experimental' };

/** The installation to evaluate if the files contain all objects. */
export function filesOnly(bundle: Bundle): Installation {
  return installationOf(bundle, controllerName);
}

/** The installation to evaluate if the files are a part of a cluster. No finding is about objects that are not in the files. */
export function filesAmongOthers(bundle: Bundle): Installation {
  return amongOthers(filesOnly(bundle));
}

/**
 * Reads the settings file of the option `--settings`. `undefined` without a file.
 *
 * @throws UsageError for an invalid file
 */
export async function readConfigured(file: string | undefined): Promise<ConfiguredJudging | undefined> {
  if (file === undefined) return undefined;
  const { readSettingsFile } = await import('./process/settings-file.ts');
  return { settings: await readSettingsFile(file), today: today() };
}

/** The policy of a profile, without overrides. */
export function policyOf(profile: Profile, bundle: Bundle): AdmissionPolicy {
  return { profile, overrides: {}, bundle };
}
