import type { AcknowledgementReport } from '../../controller/acknowledgement-report.ts';
import type { ServiceKind } from '../../core/graph/backends/backend-object.ts';
import type { CertificateFacts } from '../../core/graph/inputs.ts';
import type { StoredObject } from '../../core/preflight/target.ts';
import type { ObjectRef } from '../../core/resources/reference.ts';
import type { InstalledKind } from '../../kubernetes/index.ts';
import type { ProbeOutcome } from '../../webhook/configuration/probe.ts';
import type { ForbiddenKind } from '../../sources/cluster-objects.ts';
import type { PodFacts } from '../live/data-planes.ts';
import type { WebhookConfiguration } from '../../webhook/configuration/webhook-configuration.ts';

/** A value from the cluster, or why it is unknown. */
export type Gathered<T> =
  | { readonly type: 'known'; readonly value: T }
  | { readonly type: 'unknown'; readonly problem: string };

/** The value, or another one if it is unknown. */
export function valueOf<T>(gathered: Gathered<T>, otherwise: T): T {
  return gathered.type === 'known' ? gathered.value : otherwise;
}

/** The kinds outside the Gateway API that Sallyport reads if the API server serves them. */
export const optionalKinds = ['HostnamePolicy', 'ServiceImport', 'ClusterTrustBundle'] as const;
export type OptionalKind = (typeof optionalKinds)[number];

/** The names of an installation of the project. */
export interface Installation {
  readonly namespace: string;
  readonly service: string;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** Name of the ValidatingWebhookConfiguration for warnings about objects that others refer to. */
  readonly impactConfiguration: string;
  /** Name of the Secret with the certificate authorities. */
  readonly secret: string;
  /** Name of the Lease that decides which replica renews the authority and sets failurePolicy. */
  readonly lease: string;
  /** ServiceAccounts of webhook, watchdog and controller. */
  readonly webhookAccount: string;
  readonly watchdogAccount: string;
  readonly controllerAccount: string;
  /** Name of the Lease of the controller's replicas. */
  readonly controllerLease: string;
  /** Name of the Secret with the authorities of the channel to data planes. */
  readonly controllerSecret: string;
}

/** The facts that the doctor checks, all read before the first check. */
export interface DoctorFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly installation: Installation;
  /** The API server's version, such as `v1.37.1`. `undefined` if it answers, and the credentials may not read the version. */
  readonly server: Gathered<string | undefined>;
  /** The kinds of the Gateway API, and HostnamePolicy, that have a CRD. */
  readonly kinds: Gathered<readonly InstalledKind[]>;
  /** The newest bundle ever installed, according to the policy of the bundle. `undefined` without the policy. */
  readonly guardedBundle: Gathered<string | undefined>;
  /** Whether the binding of that policy exists. */
  readonly guardBinding: Gathered<boolean>;
  readonly configuration: Gathered<WebhookConfiguration | undefined>;
  /** `undefined` if it is not installed, which is the default. */
  readonly impactConfiguration: Gathered<WebhookConfiguration | undefined>;
  /** `undefined` if the Secret does not exist. */
  readonly authorities: Gathered<AuthorityFacts | undefined>;
  readonly readyEndpoints: Gathered<number>;
  readonly probe: ProbeOutcome;
  readonly permissions: Gathered<Permissions>;
  readonly controller: ControllerFacts;
  /** Nothing is asked if there is no controller. */
  readonly controllerPermissions: Gathered<Permissions>;
}

/** Facts about the controller, its data planes and the objects that it serves. */
export interface ControllerFacts {
  /** `undefined` if the Lease does not exist. */
  readonly lease: Gathered<LeaseFacts | undefined>;
  readonly pods: Gathered<readonly PodFacts[]>;
  /** `undefined` if the Secret does not exist. */
  readonly authorities: Gathered<AuthorityFacts | undefined>;
  readonly dataPlanePods: Gathered<readonly PodFacts[]>;
  /** The kinds of data planes that are listed in one namespace only, because the credentials do not suffice for all. */
  readonly partlyListed: readonly ForbiddenKind<DataPlaneKind>[];
  /** Problems of the Deployments of data planes, by `namespace/gateway label`. */
  readonly deploymentProblems: Gathered<ReadonlyMap<string, readonly string[]>>;
  /** The acknowledgements of data planes to each replica. */
  readonly reports: Gathered<readonly AcknowledgementReport[]>;
  readonly objects: Gathered<ServedObjects>;
}

/** The kinds of the objects of data planes. */
export type DataPlaneKind = 'Pod' | 'Deployment';

/** A Lease. Times are milliseconds. */
export interface LeaseFacts {
  /** `''` if nobody holds it. */
  readonly holder: string;
  readonly renewed: number;
  readonly duration: number;
}

/** The objects of the cluster as far as the doctor judges them. */
export interface ServedObjects {
  /** Kinds that the credentials may not list in all namespaces. */
  readonly unobserved: readonly ForbiddenKind[];
  /** Why the settings of the controller are unknown, and what to do; absent if they are known, or there are none. */
  readonly settings?: UnknownSettings | undefined;
  /** The kinds of other groups that the API server does not serve, with the objects that refer to them. */
  readonly unserved: readonly UnservedKind[];
  /** All objects of kinds of the Gateway API. */
  readonly stored: readonly StoredObject[];
  /** GatewayClasses with our controllerName, and their Gateways. */
  readonly classes: readonly StoredObject[];
  readonly gateways: readonly StoredObject[];
  /** ListenerSets of these Gateways. */
  readonly listenerSets: readonly StoredObject[];
  /** Certificates and authorities that these Gateways, their ListenerSets and BackendTLSPolicies refer to. */
  readonly certificates: readonly CertificateUse[];
  /** Services without endpoints, with the routes and listeners that send requests to them. */
  readonly idle: readonly IdleService[];
}

/** `invalid`: the webhook and the controller use earlier ones. `unread`: the credentials, or the API server, do not permit it. */
export interface UnknownSettings {
  readonly type: 'invalid' | 'unread';
  readonly problem: string;
}

export interface UnservedKind {
  readonly kind: OptionalKind;
  /** `BackendTLSPolicy shop/cart` */
  readonly users: readonly string[];
}

export interface CertificateUse {
  /** `Gateway shop/web` */
  readonly user: string;
  /** A Secret, ConfigMap or ClusterTrustBundle. */
  readonly source: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>;
  readonly facts: CertificateFacts;
}

export interface IdleService {
  readonly kind: ServiceKind;
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
  /** `HTTPRoute shop/cart` */
  readonly users: readonly string[];
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
  readonly checked: number;
  /** The places in which no permission was checked, and why. */
  readonly unchecked?: string;
}

/** A permission of a ServiceAccount. */
export interface Permission {
  readonly account: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
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

/** Maximum number of verdicts of a check about single objects. */
const maxVerdicts = 10;

/** Limits the verdicts of one check to the first ones, and adds the number of the others. */
export function firstOf(check: string, verdicts: readonly Verdict[]): readonly Verdict[] {
  const more = verdicts.slice(maxVerdicts);
  if (more.length === 0) return verdicts;
  const status = more.some((verdict) => verdict.status === 'fail') ? fail : warn;
  return [...verdicts.slice(0, maxVerdicts), status(check, `and ${more.length} more`)];
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
