import type { InstalledKind } from '../../kubernetes/index.ts';
import type { ProbeOutcome } from '../../webhook/configuration/probe.ts';
import type { WebhookConfiguration } from '../../webhook/configuration/webhook-configuration.ts';

/** A value from the cluster, or why it is unknown. */
export type Gathered<T> =
  | { readonly type: 'known'; readonly value: T }
  | { readonly type: 'unknown'; readonly problem: string };

/** The names of an installation of the project. */
export interface Installation {
  readonly namespace: string;
  readonly service: string;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** Name of the Secret with the certificate authorities. */
  readonly secret: string;
  /** Name of the Lease that decides which replica renews the authority and sets failurePolicy. */
  readonly lease: string;
  /** ServiceAccounts of webhook and watchdog. */
  readonly webhookAccount: string;
  readonly watchdogAccount: string;
}

/** The facts that the doctor checks, all read before the first check. */
export interface DoctorFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly installation: Installation;
  /** The API server's version, such as `v1.37.1`. */
  readonly server: Gathered<string>;
  /** The kinds of the Gateway API. */
  readonly kinds: Gathered<readonly InstalledKind[]>;
  /** The newest bundle ever installed, according to the policy of the bundle. `undefined` without the policy. */
  readonly guardedBundle: Gathered<string | undefined>;
  readonly configuration: Gathered<WebhookConfiguration | undefined>;
  /** `undefined` if the Secret does not exist. */
  readonly authorities: Gathered<AuthorityFacts | undefined>;
  readonly readyEndpoints: Gathered<number>;
  readonly probe: ProbeOutcome;
  readonly permissions: Gathered<Permissions>;
}

/** The content of the Secret, without its keys. Times are milliseconds since 1970. */
export type AuthorityFacts =
  | { readonly type: 'unreadable'; readonly problem: string }
  | {
      readonly type: 'authorities';
      /** The authority that signs the webhook's certificates. `undefined` after its key was lost. */
      readonly current:
        | { readonly certificate: string; readonly notAfter: number; readonly renewalTime: number }
        | undefined;
      /** All certificates that the configuration has to trust. */
      readonly bundle: readonly string[];
    };

export interface Permissions {
  /** Missing permissions, each with at least one missing verb. */
  readonly denied: readonly Permission[];
  /** Number of verbs that were checked. */
  readonly asked: number;
}

/** A permission of a ServiceAccount. */
export interface Permission {
  readonly account: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  /** `undefined` for all namespaces, or for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name?: string;
}

/** The result of one check. */
export interface Verdict {
  /** Id of the check, in kebab case, stable. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** Commands that fix the problem, ready to run. */
  readonly commands: readonly string[];
}

/** Restores the installation. Overlays differ in their settings, so the user has to choose the same one. */
export const applyAgain =
  'kubectl apply -k deploy/overlays/enforce   # or the overlay, or chart, that you installed with';

/** A check. It reads only the facts, never the cluster. */
export type Check = (facts: DoctorFacts) => readonly Verdict[];

export function ok(check: string, message: string): Verdict {
  return { check, status: 'ok', message, commands: [] };
}

export function warn(check: string, message: string, ...commands: readonly string[]): Verdict {
  return { check, status: 'warn', message, commands };
}

export function fail(check: string, message: string, ...commands: readonly string[]): Verdict {
  return { check, status: 'fail', message, commands };
}
