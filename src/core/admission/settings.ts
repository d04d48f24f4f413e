import { profiles, type Effect, type Profile } from '../rules/engine/rule.ts';
import { labelledProfile } from '../rules/namespaces/profile-label.ts';
import type { Bundle, Channel, Minor } from '../schema/index.ts';
import { selectorMatches } from '../text/selector.ts';
import type { AdmissionPolicy, Exempting } from './policy.ts';
import type { PolicySettings } from './policy-settings.ts';

/** The complete settings for admission: every setting that a document omits has its default. */
export interface Settings {
  readonly profile: Profile;
  /** Rule id → effect, overrides the profile. */
  readonly effects: Readonly<Record<string, Effect>>;
  /** The failurePolicy of the webhook configuration. `Fail` is set only after a successful probe, and is reverted automatically. */
  readonly failurePolicy: FailurePolicy;
  /** Whether the label of a namespace selects its profile. */
  readonly profileLabel: ProfileLabel;
  /** The first entry that matches the namespace applies. */
  readonly namespaces: readonly NamespaceSettings[];
  readonly exemptions: Exemptions;
  /** The first entry that matches the kind applies. */
  readonly bundleOverrides: readonly BundleOverride[];
  /** Owners of hostnames and paths, in addition to the HostnamePolicies of the cluster. The controller reads them, too. */
  readonly hostnamePolicies: readonly PolicySettings[];
}

export const failurePolicies = ['Ignore', 'Fail'] as const;
/** The behavior of an API server if it cannot call the webhook. */
export type FailurePolicy = (typeof failurePolicies)[number];

export const profileLabels = ['ignore', 'strengthen', 'honor'] as const;
/** `strengthen`: the label of a namespace can only select a stricter profile than the global one. */
export type ProfileLabel = (typeof profileLabels)[number];

/** A valid Kubernetes label selector: `matchLabels`, `matchExpressions`. */
export type LabelSelector = Readonly<Record<string, unknown>>;

/** Matches namespaces by name and by labels. If both are set, both must match. */
export interface NamespaceSettings {
  readonly names?: readonly string[];
  readonly selector?: LabelSelector;
  /** Replaces the effects for all namespaces instead of adding to them. */
  readonly profile?: Profile;
  readonly effects?: Readonly<Record<string, Effect>>;
}

/** Writes that are not judged, and whether annotations of objects can prevent denials. */
export interface Exemptions {
  readonly annotations: Exempting['annotations'];
  readonly namespaces: readonly string[];
  readonly usernames: readonly string[];
  readonly groups: readonly string[];
}

/** The schema for checking structure, regardless of the installed CRDs. */
export interface BundleOverride {
  /** Default: all kinds. */
  readonly kinds?: readonly string[];
  readonly bundle?: Minor;
  readonly channel?: Channel;
}

export const defaultSettings: Settings = {
  profile: 'standard',
  effects: {},
  failurePolicy: 'Ignore',
  profileLabel: 'strengthen',
  namespaces: [],
  exemptions: { annotations: 'forbid', namespaces: [], usernames: [], groups: [] },
  bundleOverrides: [],
  hostnamePolicies: [],
};

/** The attributes of a write that settings depend on. */
export interface WriteFacts {
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly kind: string;
  readonly username: string;
  readonly groups: readonly string[];
  /** The current day in UTC, `2026-11-23`. */
  readonly today: string;
}

/** The bundle by which the API server validates objects of a kind. */
export interface KnownBundle {
  readonly bundle: Bundle;
  /** False if the bundle is a guess. Violations of the bundle alone must then not be denied. */
  readonly certain: boolean;
}

/** Returns the policy for one write, or 'exempt' if it is not judged. */
export function policyFor(settings: Settings, facts: WriteFacts, known: KnownBundle): AdmissionPolicy | 'exempt' {
  if (isExempt(settings.exemptions, facts)) return 'exempt';
  return {
    ...effectsFor(settings, facts),
    ...judgedBundle(settings.bundleOverrides, facts.kind, known),
    exempting: { annotations: settings.exemptions.annotations, today: facts.today },
  };
}

/** Returns the bundle by which objects of a kind are judged. An override that names a bundle is not a guess. */
export function judgedBundle(
  overrides: Settings['bundleOverrides'],
  kind: string,
  { bundle, certain }: KnownBundle,
): Pick<AdmissionPolicy, 'bundle' | 'guessed'> {
  const override = overrides.find(({ kinds }) => kinds?.includes(kind) ?? true);
  return {
    bundle: { minor: override?.bundle ?? bundle.minor, channel: override?.channel ?? bundle.channel },
    ...(!certain && override?.bundle === undefined && { guessed: true }),
  };
}

function effectsFor(settings: Settings, facts: WriteFacts): Pick<AdmissionPolicy, 'profile' | 'overrides'> {
  const own = settings.namespaces.find((entry) => matches(entry, facts));
  const labelled = own?.profile === undefined ? profileByLabel(settings, facts) : undefined;
  // The profile of an entry begins anew, and `audit` denies nothing.
  const shared = own?.profile !== undefined || labelled === 'audit' ? {} : settings.effects;
  return {
    profile: own?.profile ?? labelled ?? settings.profile,
    overrides: own?.effects === undefined ? shared : { ...shared, ...own.effects },
  };
}

/** An entry of the settings takes precedence over the label. The settings decide whether a label may weaken the global profile. */
function profileByLabel({ profile, profileLabel }: Settings, facts: WriteFacts): Profile | undefined {
  const label = labelledProfile(facts.namespaceLabels);
  if (label === undefined || profileLabel === 'ignore') return undefined;
  return profileLabel === 'honor' || profiles.indexOf(label) > profiles.indexOf(profile) ? label : undefined;
}

/** Returns whether the settings exempt a write from admission. */
export function isExempt(
  { namespaces, usernames, groups }: Exemptions,
  facts: Pick<WriteFacts, 'namespace' | 'username' | 'groups'>,
): boolean {
  return (
    namespaces.includes(facts.namespace) ||
    usernames.includes(facts.username) ||
    facts.groups.some((group) => groups.includes(group))
  );
}

function matches({ names, selector }: NamespaceSettings, { namespace, namespaceLabels }: WriteFacts): boolean {
  if (namespace === '' || (names === undefined && selector === undefined)) return false;
  return (names?.includes(namespace) ?? true) && (selector === undefined || selectorMatches(selector, namespaceLabels));
}
