import { policySettingsWrites } from '../../core/admission/policy-settings.ts';
import type { Settings } from '../../core/admission/settings.ts';
import type { Write } from '../../core/incremental/index.ts';
import type { LiveSettings } from './settings-file.ts';

/** Settings that may change. */
export type FollowedSettings = Pick<LiveSettings, 'current' | 'onChange'>;

/** Evaluates the HostnamePolicies of the settings, now and after each change. */
export function followPolicySettings(settings: FollowedSettings, apply: (writes: readonly Write[]) => void): void {
  let applied: Settings['hostnamePolicies'] = [];
  const update = (): void => {
    const { hostnamePolicies } = settings.current();
    apply(policySettingsWrites(applied, hostnamePolicies));
    applied = hostnamePolicies;
  };
  update();
  settings.onChange(update);
}
