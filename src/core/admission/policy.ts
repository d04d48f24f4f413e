import { allRules } from '../rules/registry.ts';
import type { Effect, Profile, RuleFrame } from '../rules/rule.ts';
import type { Bundle } from '../schema/index.ts';

/** What admission does with findings: a profile, and what a user decided otherwise for single rules. */
export interface AdmissionPolicy {
  readonly profile: Profile;
  /** Rule id → effect. */
  readonly overrides: Readonly<Record<string, Effect>>;
  /** Whose schema and rules objects are held against. */
  readonly bundle: Bundle;
  /** It is a guess that the API server has this bundle: what only the bundle refuses is then warned of instead of denied. */
  readonly guessed?: true;
}

/** Rule ids of findings that come from the schema itself, beside those of the registry. */
export const schemaRule = 'schema';
export const unknownFieldRule = 'schema-unknown-field';
export const lostProtectionRule = 'schema-lost-protection';

const schemaEffects: Readonly<Record<string, Readonly<Record<Profile, Effect>>>> = {
  [schemaRule]: { audit: 'record', standard: 'deny', strict: 'deny' },
  // The API server prunes such fields before storing, so nothing breaks; but what was meant is lost.
  [unknownFieldRule]: { audit: 'record', standard: 'warn', strict: 'deny' },
  // The same, where something would be open that was to be closed. Whoever sees objects after pruning never finds it.
  [lostProtectionRule]: { audit: 'record', standard: 'deny', strict: 'deny' },
};

const rules = new Map<string, RuleFrame>(allRules.map((rule) => [rule.id, rule]));

/** The effect of a rule's findings under a policy; `ours` says whether everything the object attaches to is ours. */
export function effectOf(ruleId: string, policy: AdmissionPolicy, ours: boolean): Effect {
  const override = Object.hasOwn(policy.overrides, ruleId) ? policy.overrides[ruleId] : undefined;
  if (override !== undefined) return override;
  const rule = rules.get(ruleId);
  const effect = (rule?.effect ?? schemaEffects[ruleId])?.[policy.profile] ?? 'none';
  return effect === 'deny' && rule?.about === 'dialect' && !ours ? 'warn' : effect;
}

/** Whether the profile `audit` keeps from denial what `standard`, with the same overrides, would deny. */
export function isWithheld(ruleId: string, policy: AdmissionPolicy, ours: boolean): boolean {
  return policy.profile === 'audit' && effectOf(ruleId, policy, ours) === 'record' && effectOf(ruleId, { ...policy, profile: 'standard' }, ours) === 'deny';
}
