import { defineInput } from '../incremental/index.ts';
import type { Population, Reader } from '../incremental/reader.ts';
import type { KindName, Resource } from '../resources/resource.ts';
import type { Bundle, SchemaKind } from '../schema/index.ts';

/** One cell per object, without status. Arguments: kind, namespace (`''` for cluster-scoped kinds), name. */
export const objectCell = defineInput<Resource>('object');

/** What a Secret's certificate is, never its key. Arguments: namespace, name. */
export const certificateCell = defineInput<CertificateFacts>('certificate');

/** The features in the status of a GatewayClass (status.supportedFeatures, GEP-2162), whoever wrote it. Arguments: name. */
export const classFeaturesCell = defineInput<readonly string[]>('classFeatures');

/** The certificates of authorities in a ConfigMap. Arguments: namespace, name. */
export const authorityCell = defineInput<AuthorityFacts>('authority');

/** The data of a ConfigMap that may hold parameters, long values cut. Arguments: namespace, name. */
export const parameterCell = defineInput<Readonly<Record<string, string>>>('parameters');

/** What the data planes acknowledged of whatever owns listeners. Arguments: kind (`Gateway` or `ListenerSet`), namespace, name. */
export const acknowledgementCell = defineInput<Acknowledgement>('acknowledgement');

/** How it stands with what shall serve a Gateway. Arguments: namespace, name. */
export const dataPlaneCell = defineInput<DataPlaneFacts>('dataPlane');

/** Facts about this installation, one cell without arguments. */
export const installationCell = defineInput<Installation>('installation');

/** Facts read from a `kubernetes.io/tls` Secret, or why there are none. Times are RFC 3339. */
export type CertificateFacts =
  | { readonly type: 'certificate'; readonly dnsNames: readonly string[]; readonly notBefore: string; readonly notAfter: string }
  | { readonly type: 'unusable'; readonly problem: string };

/** Certificates in PEM, one each, read from the key `ca.crt` of a ConfigMap, or why there are none. */
export type AuthorityFacts =
  | { readonly type: 'authorities'; readonly certificates: readonly string[] }
  | { readonly type: 'unusable'; readonly problem: string };

/** `generation` is the newest generation of the owner that every ready data plane serves. */
export interface Acknowledgement {
  readonly generation: number;
  /** Addresses under which the data planes serve the Gateway. */
  readonly addresses: readonly { readonly type: string; readonly value: string }[];
  /** Name of a listener of the owner → why a data plane could not serve it. */
  readonly listenerProblems: Readonly<Record<string, string>>;
}

export interface DataPlaneFacts {
  /** Why nothing serves the Gateway, and nothing will as things are, e.g. for want of resources. */
  readonly refusal?: { readonly reason: string; readonly message: string };
  /** What is not as it should be although the Gateway is served, or may soon be; `''`: nothing. */
  readonly remark: string;
  /** Why the Gateway has no address, or not those that it asks for, where that is known. */
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
  /** What the CRDs of installed kinds that are served say of their bundle, e.g. `v1.7.0`; `''` where one says nothing. */
  readonly bundleVersions: Readonly<Partial<Record<KindName, string>>>;
  /** The bundle of each kind of the Gateway API that is installed; bundles may be mixed. */
  readonly bundles: InstalledBundles;
  /** Kinds that are not followed here: nothing can be said about whether such an object exists. */
  readonly unobserved: readonly KindName[];
}

export type InstalledBundles = Readonly<Partial<Record<SchemaKind, Bundle>>>;

/** The object of that kind and name, or `undefined`. */
export function readObject<K extends KindName>(read: Reader, kind: K, namespace: string, name: string): Resource<K> | undefined {
  return read.input(objectCell, kind, namespace, name) as Resource<K> | undefined;
}

/** All objects of these kinds, to drive indexes and emissions. */
export function objectsOf(...kinds: readonly KindName[]): Population {
  return { input: objectCell, populations: kinds };
}

export const gatewayGroup = 'gateway.networking.k8s.io';
