import type { Effect, Profile } from '../rules/rule.ts';
import type { Bundle, Channel, Minor } from '../schema/index.ts';
import { selectorMatches } from '../text/selector.ts';
import { effectOf, schemaRule, unknownFieldRule, type AdmissionPolicy } from './policy.ts';

/** What people decide about admission, complete: everything that a settings document leaves out has its default. */
export interface Settings {
  readonly profile: Profile;
  /** Rule id → effect, instead of the profile's. */
  readonly effects: Readonly<Record<string, Effect>>;
  /** What shall happen to writes while no webhook answers. `Fail` is taken only after a probe, and given up by itself. */
  readonly failurePolicy: FailurePolicy;
  /** The first entry that a namespace matches holds for it. */
  readonly namespaces: readonly NamespaceSettings[];
  readonly exemptions: Exemptions;
  /** The first entry that a kind matches holds for it. */
  readonly bundleOverrides: readonly BundleOverride[];
}

export const failurePolicies = ['Ignore', 'Fail'] as const;
/** What an API server does when the webhook cannot be called. */
export type FailurePolicy = (typeof failurePolicies)[number];

/** A Kubernetes label selector without mistakes: `matchLabels`, `matchExpressions`. */
export type LabelSelector = Readonly<Record<string, unknown>>;

/** A namespace matches by name and by labels, where both are given. */
export interface NamespaceSettings {
  readonly names?: readonly string[];
  readonly selector?: LabelSelector;
  /** Begins anew: effects for all namespaces do not add to it. */
  readonly profile?: Profile;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** Writes that are not judged at all. */
export interface Exemptions {
  readonly namespaces: readonly string[];
  readonly usernames: readonly string[];
  readonly groups: readonly string[];
}

/** Which schema structure is checked against, whatever the installed CRDs say. */
export interface BundleOverride {
  /** All kinds unless given. */
  readonly kinds?: readonly string[];
  readonly bundle?: Minor;
  readonly channel?: Channel;
}

export const defaultSettings: Settings = {
  profile: 'standard',
  effects: {},
  failurePolicy: 'Ignore',
  namespaces: [],
  exemptions: { namespaces: [], usernames: [], groups: [] },
  bundleOverrides: [],
};

/** What settings look at in a write. */
export interface WriteFacts {
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly kind: string;
  readonly username: string;
  readonly groups: readonly string[];
}

/**
 * The policy that holds for one write, or that it is not judged.
 *
 * @param bundle what is installed of the kind
 */
export function policyFor(settings: Settings, facts: WriteFacts, bundle: Bundle): AdmissionPolicy | 'exempt' {
  if (isExempt(settings.exemptions, facts)) return 'exempt';
  const own = settings.namespaces.find((entry) => matches(entry, facts));
  const shared = own?.profile === undefined ? settings.effects : {};
  return {
    profile: own?.profile ?? settings.profile,
    overrides: own?.effects === undefined ? shared : { ...shared, ...own.effects },
    bundle: overridden(settings.bundleOverrides, facts.kind, bundle),
  };
}

/**
 * The same policy where it is only a guess which schema holds: what contradicts it is warned of and not denied, unless
 * the settings name an effect for that.
 */
export function withDoubtfulSchema(policy: AdmissionPolicy): AdmissionPolicy {
  const doubtful = [schemaRule, unknownFieldRule].filter((id) => effectOf(id, policy, true) === 'deny' && !Object.hasOwn(policy.overrides, id));
  if (doubtful.length === 0) return policy;
  return { ...policy, overrides: { ...policy.overrides, ...Object.fromEntries(doubtful.map((id) => [id, 'warn' as const])) } };
}

function isExempt({ namespaces, usernames, groups }: Exemptions, facts: WriteFacts): boolean {
  return namespaces.includes(facts.namespace) || usernames.includes(facts.username) || facts.groups.some((group) => groups.includes(group));
}

function matches({ names, selector }: NamespaceSettings, { namespace, namespaceLabels }: WriteFacts): boolean {
  if (namespace === '' || (names === undefined && selector === undefined)) return false;
  return (names?.includes(namespace) ?? true) && (selector === undefined || selectorMatches(selector, namespaceLabels));
}

function overridden(overrides: readonly BundleOverride[], kind: string, installed: Bundle): Bundle {
  const override = overrides.find(({ kinds }) => kinds?.includes(kind) ?? true);
  return { minor: override?.bundle ?? installed.minor, channel: override?.channel ?? installed.channel };
}
