import type { Ownership } from '../graph/ownership.ts';
import { warned } from '../rules/engine/effects.ts';
import { allRules } from '../rules/engine/registry.ts';
import type { Effect, Finding, Profile, Rule } from '../rules/engine/rule.ts';
import type { Bundle } from '../schema/index.ts';

/** The effects of findings on admission: a profile, and overrides for single rules. */
export interface AdmissionPolicy {
  readonly profile: Profile;
  /** Rule id → effect. */
  readonly overrides: Readonly<Record<string, Effect>>;
  /** The bundle whose schema and rules are applied. */
  readonly bundle: Bundle;
  /** Set if the bundle of the API server is a guess. Violations of the bundle alone then warn instead of deny. */
  readonly guessed?: true;
  /** How annotations of objects that ask for an exemption are judged. Absent: they are ignored without a finding. */
  readonly exempting?: Exempting;
}

export const annotationExemptions = ['forbid', 'permit'] as const;

/** Whether annotations exempt objects, and the current day in UTC, `2026-11-23`. */
export interface Exempting {
  readonly annotations: (typeof annotationExemptions)[number];
  readonly today: string;
}

/** Rule ids of findings of the schema itself, in addition to those of the registry. */
export const schemaRule = 'schema';
export const unknownFieldRule = 'schema-unknown-field';
export const lostProtectionRule = 'schema-lost-protection';
/** Rule id of findings about an exemption that does not apply. */
export const exemptionRule = 'exemption';

const otherEffects: Readonly<Record<string, Readonly<Record<Profile, Effect>>>> = {
  [schemaRule]: { audit: 'record', standard: 'deny', strict: 'deny' },
  // The API server prunes such fields before storing. Nothing breaks, but the user's intent is lost.
  [unknownFieldRule]: { audit: 'record', standard: 'warn', strict: 'deny' },
  // A pruned field that would have restricted access. Later checks of the stored object cannot find this.
  [lostProtectionRule]: { audit: 'record', standard: 'deny', strict: 'deny' },
  [exemptionRule]: warned,
};

const rules = new Map<string, Rule>(allRules.map((rule) => [rule.id, rule]));

/** Returns whether a finding is about Sallyport's support, not about the specification. */
export function isDialect({ rule, about }: Pick<Finding, 'rule' | 'about'>): boolean {
  return about === 'dialect' || rules.get(rule)?.about === 'dialect';
}

/** Returns the effect of a finding under a policy, depending on the controller of the object. */
export function effectOf(
  finding: Pick<Finding, 'rule' | 'about'>,
  policy: AdmissionPolicy,
  standing: Ownership['standing'],
): Effect {
  const { rule } = finding;
  const aboutUs = isDialect(finding);
  // The statement would be false, so overrides do not apply.
  if (aboutUs && standing === 'other') return 'none';
  const override = Object.hasOwn(policy.overrides, rule) ? policy.overrides[rule] : undefined;
  if (override !== undefined) return override;
  const effect = (rules.get(rule)?.effect ?? otherEffects[rule])?.[policy.profile] ?? 'none';
  if (!aboutUs || effect === 'none') return effect;
  if (standing === 'unknown') return 'record';
  return effect === 'deny' && standing === 'mixed' ? 'warn' : effect;
}

/** Returns whether the profile `audit` only records a finding that `standard` would deny with the same overrides. */
export function isWithheld(
  finding: Pick<Finding, 'rule' | 'about'>,
  policy: AdmissionPolicy,
  standing: Ownership['standing'],
): boolean {
  return (
    policy.profile === 'audit' &&
    effectOf(finding, policy, standing) === 'record' &&
    effectOf(finding, { ...policy, profile: 'standard' }, standing) === 'deny'
  );
}
