import { defineInput } from '../incremental/index.ts';
import type { Population, Reader } from '../incremental/reader.ts';
import type { KindName, Resource } from '../resources/resource.ts';
import type { Bundle, SchemaKind } from '../schema/index.ts';

/** One cell per object, without status. Arguments: kind, namespace (`''` for cluster-scoped kinds), name. */
export const objectCell = defineInput<Resource>('object');

/** Facts about the certificate of a Secret, never its key. Arguments: namespace, name. */
export const certificateCell = defineInput<CertificateFacts>('certificate');

/** The features in the status of a GatewayClass (status.supportedFeatures, GEP-2162) of any controller. Arguments: name. */
export const classFeaturesCell = defineInput<readonly string[]>('classFeatures');

/** The CA certificates in a ConfigMap, or with namespace `''` in a ClusterTrustBundle. Arguments: namespace, name. */
export const authorityCell = defineInput<AuthorityFacts>('authority');

/** The data of a ConfigMap that may contain parameters, with long values truncated. Arguments: namespace, name. */
export const parameterCell = defineInput<Readonly<Record<string, string>>>('parameters');

/**
 * Set for an object that the evaluated change deletes. Without it, the absence of an object whose kind is not watched is unknown.
 * Written only on overlays. Arguments: kind, namespace, name.
 */
export const deletedCell = defineInput<true>('deleted');

/** The acknowledgement of the data planes for an owner of listeners. Arguments: kind (`Gateway` or `ListenerSet`), namespace, name. */
export const acknowledgementCell = defineInput<Acknowledgement>('acknowledgement');

/** The state of the data plane of a Gateway. Arguments: namespace, name. */
export const dataPlaneCell = defineInput<DataPlaneFacts>('dataPlane');

/**
 * The objects of a namespace that do not fit into the configuration of a Gateway, by the key of their resource. Arguments: namespace and
 * name of the Gateway, namespace of the objects.
 */
export const withheldCell = defineInput<Readonly<Record<string, WithheldFacts>>>('withheld');

/** Set if the settings contain HostnamePolicies, whether their CRD is installed or not; one cell without arguments. */
export const policySettingsCell = defineInput<true>('policySettings');

/** Facts about this installation; one cell without arguments. */
export const installationCell = defineInput<Installation>('installation');

/**
 * Facts from a `kubernetes.io/tls` Secret, or the reason why there are none. Times are RFC 3339. The facts are short, because they are kept for
 * each Secret of the cluster, and a certificate may have thousands of names.
 */
export type CertificateFacts =
  | {
      readonly type: 'certificate';
      readonly notBefore: string;
      readonly notAfter: string;
    }
  | { readonly type: 'unusable'; readonly problem: string };

/** The maximum number of CA certificates of an object, and of all references of an object that verifies backends. */
export const maxAuthorities = 500;

/** The maximum number of CA certificates for client certificates of a port. Each handshake sends their names to the client. */
export const maxClientAuthorities = 100;

/** Single certificates in PEM, each once, from a ConfigMap or ClusterTrustBundle, or the reason why there are none. */
export type AuthorityFacts =
  | { readonly type: 'authorities'; readonly certificates: readonly string[] }
  | { readonly type: 'unusable'; readonly problem: string };

/** `generation` is the newest generation of the owner that every ready data plane serves. */
export interface Acknowledgement {
  readonly generation: number;
  /** The addresses at which the data planes serve the Gateway. */
  readonly addresses: readonly AssignedAddress[];
  /** Name of a listener of the owner → the reason why a data plane could not serve it. */
  readonly listenerProblems: Readonly<Record<string, string>>;
}

/** An address at which data planes serve a Gateway. */
export interface AssignedAddress {
  readonly type: string;
  readonly value: string;
  /** `Cluster` for a ClusterIP, whatever the Gateway requested. */
  readonly routability?: 'Cluster';
  /** `Cluster` for an address of the Service for entries of spec.addresses with a routability. */
  readonly scope?: 'Cluster';
}

/** The bytes of a resource, and the limit for all resources of its kind. */
export interface WithheldFacts {
  readonly bytes: number;
  readonly limit: number;
}

export interface DataPlaneFacts {
  /** The reason why the Gateway is not served and will not be without a change, e.g. insufficient resources. */
  readonly refusal?: { readonly reason: string; readonly message: string };
  /** A problem of a Gateway that is served, or may be soon; `''`: none. */
  readonly remark: string;
  /** The reason why the Gateway has no address, or not the requested ones, if it is known. */
  readonly addressProblem?: AddressProblem;
}

/** GatewayReasonAddressNotUsable, GatewayReasonAddressNotAssigned. */
export interface AddressProblem {
  readonly reason: 'AddressNotUsable' | 'AddressNotAssigned';
  readonly message: string;
}

export interface Installation {
  /** GatewayClasses with this controllerName are ours. */
  readonly controllerName: string;
  /** The bundle versions of all installed CRDs of the Gateway API by kind, e.g. `v1.7.0`; `''` for a CRD without a version. */
  readonly bundleVersions: Readonly<Record<string, string>>;
  /** Set if CRDs of the installed bundle are missing. */
  readonly incomplete?: IncompleteBundle | undefined;
  /** The bundle of each installed kind of the Gateway API. Kinds may have different bundles. */
  readonly bundles: InstalledBundles;
  /** Kinds whose entry in `bundles` is a guess: no release has the schemas of their CRD. */
  readonly guessed?: readonly SchemaKind[];
  /**
   * Whether there can be HostnamePolicies. Without their CRD, links of routes depend on no index, so that a change of a listener
   * ends at the routes that it does not affect.
   */
  readonly hostnamePolicies?: boolean;
  /** Kinds that are not watched in all namespaces: it is unknown whether an object of these kinds exists. `isObserved` decides. */
  readonly unobserved: readonly KindName[];
  /** The only namespace in which objects of a kind in `unobserved` are watched. */
  readonly observedOnlyIn?: Readonly<Partial<Record<KindName, string>>>;
  /** Kinds outside the standard channel of the Gateway API that the API server is known not to serve, for example because their CRD is not installed. */
  readonly notInstalled?: readonly KindName[];
}

export interface IncompleteBundle {
  /** `v1.7.0 standard` */
  readonly bundle: string;
  /** The CRDs that are not found, such as `tlsroutes`. */
  readonly absent: readonly string[];
}

export type InstalledBundles = Readonly<Partial<Record<SchemaKind, Bundle>>>;

/** Returns the object of that kind and name, or `undefined`. */
export function readObject<K extends KindName>(
  read: Reader,
  kind: K,
  namespace: string,
  name: string,
): Resource<K> | undefined {
  return read.input(objectCell, kind, namespace, name) as Resource<K> | undefined;
}

/** Returns all objects of these kinds, as the population of indexes and emissions. */
export function objectsOf(...kinds: readonly KindName[]): Population {
  return { input: objectCell, populations: kinds };
}
