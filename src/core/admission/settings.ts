import type { Effect, Profile } from '../rules/engine/rule.ts';
import type { Bundle, Channel, Minor } from '../schema/index.ts';
import { selectorMatches } from '../text/selector.ts';
import type { AdmissionPolicy } from './policy.ts';

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

/** What the API server holds objects of a kind against. */
export interface KnownBundle {
  readonly bundle: Bundle;
  /** False where that is a guess: what only contradicts the bundle must then not be denied. */
  readonly certain: boolean;
}

/** The policy that holds for one write, or that it is not judged. An override that names a bundle is no guess. */
export function policyFor(settings: Settings, facts: WriteFacts, { bundle, certain }: KnownBundle): AdmissionPolicy | 'exempt' {
  if (isExempt(settings.exemptions, facts)) return 'exempt';
  const own = settings.namespaces.find((entry) => matches(entry, facts));
  const shared = own?.profile === undefined ? settings.effects : {};
  const override = settings.bundleOverrides.find(({ kinds }) => kinds?.includes(facts.kind) ?? true);
  return {
    profile: own?.profile ?? settings.profile,
    overrides: own?.effects === undefined ? shared : { ...shared, ...own.effects },
    bundle: { minor: override?.bundle ?? bundle.minor, channel: override?.channel ?? bundle.channel },
    ...(!certain && override?.bundle === undefined && { guessed: true }),
  };
}

function isExempt({ namespaces, usernames, groups }: Exemptions, facts: WriteFacts): boolean {
  return namespaces.includes(facts.namespace) || usernames.includes(facts.username) || facts.groups.some((group) => groups.includes(group));
}

function matches({ names, selector }: NamespaceSettings, { namespace, namespaceLabels }: WriteFacts): boolean {
  if (namespace === '' || (names === undefined && selector === undefined)) return false;
  return (names?.includes(namespace) ?? true) && (selector === undefined || selectorMatches(selector, namespaceLabels));
}
