import { quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { warned } from '../engine/effects.ts';
import { profiles, rule, type Profile } from '../engine/rule.ts';

/** The label of a namespace that selects the profile of its objects. */
export const profileLabel = 'sallyport.dev/profile';

/** Returns the profile that the labels of a namespace select. `undefined` if there is no label, or an invalid one. */
export function labelledProfile(labels: Readonly<Record<string, string>>): Profile | undefined {
  return profiles.find((profile) => Object.hasOwn(labels, profileLabel) && labels[profileLabel] === profile);
}

/** An invalid label is ignored, so the objects of the namespace would be judged by another profile than intended. */
export const profileLabelRule = rule({
  id: 'profile-label',
  kinds: ['Namespace'],
  summary: 'The label of a namespace that selects its profile has an invalid value.',
  effect: warned,
  source: 'Sallyport settings, "Profiles of namespaces" (docs/guides/settings.md)',
  check({ meta }, _read, report) {
    if (!Object.hasOwn(meta.labels, profileLabel) || labelledProfile(meta.labels) !== undefined) return;
    const value = meta.labels[profileLabel] ?? '';
    const near = nearest(value, profiles);
    const fix = near === undefined ? `Use one of ${profiles.join(', ')}.` : `Did you mean ${near}?`;
    report({
      path: ['metadata', 'labels', profileLabel],
      value,
      message: `Invalid profile ${quote(value)}: the label is ignored, and the profile of the settings applies. ${fix}`,
    });
  },
});
