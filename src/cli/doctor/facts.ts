import type { InstalledKind } from '../../kubernetes/index.ts';
import type { ProbeOutcome } from '../../webhook/configuration/probe.ts';
import type { WebhookConfiguration } from '../../webhook/configuration/webhook-configuration.ts';

/** Something that was asked for, or why it is not known. */
export type Gathered<T> = { readonly type: 'known'; readonly value: T } | { readonly type: 'unknown'; readonly problem: string };

/** Where the project is installed. */
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

/** What the doctor looks at, all of it read before anything is judged. */
export interface DoctorFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly installation: Installation;
  /** The API server's version, such as `v1.37.1`. */
  readonly server: Gathered<string>;
  /** The kinds of the Gateway API. */
  readonly kinds: Gathered<readonly InstalledKind[]>;
  /** The newest bundle that was ever installed, by the policy that comes with it; `undefined` without that. */
  readonly guardedBundle: Gathered<string | undefined>;
  readonly configuration: Gathered<WebhookConfiguration | undefined>;
  /** `undefined` where there is no such Secret. */
  readonly authorities: Gathered<AuthorityFacts | undefined>;
  readonly readyEndpoints: Gathered<number>;
  readonly probe: ProbeOutcome;
  readonly permissions: Gathered<Permissions>;
}

/** What is in the Secret, without its keys. Times are milliseconds since 1970. */
export type AuthorityFacts =
  | { readonly type: 'unreadable'; readonly problem: string }
  | {
      readonly type: 'authorities';
      /** What the webhook's leaves are signed with; `undefined` where its key was lost. */
      readonly current: { readonly certificate: string; readonly notAfter: number; readonly renewalTime: number } | undefined;
      /** Everything that the configuration has to trust. */
      readonly bundle: readonly string[];
    };

export interface Permissions {
  /** With the verbs that are lacking, at least one each. */
  readonly denied: readonly Permission[];
  /** Number of verbs that were asked for. */
  readonly asked: number;
}

/** What a ServiceAccount may do. */
export interface Permission {
  readonly account: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  /** `undefined` for all namespaces, or a kind without. */
  readonly namespace?: string;
  readonly name?: string;
}

/** What one check found. */
export interface Verdict {
  /** In kebab case, stable. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What puts it right, to be run as they are. */
  readonly commands: readonly string[];
}

/** Puts back what was installed. Overlays differ in the settings, so which one it was matters. */
export const applyAgain = 'kubectl apply -k deploy/overlays/enforce   # or the overlay, or chart, that you installed with';

/** A check: looks at facts, never at the cluster. */
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
