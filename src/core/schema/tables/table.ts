import { allVariants, since, versions, type MaybeVersioned } from '../availability.ts';
import { isRecord, property } from '../json-values.ts';
import type { ObjectNode } from '../node.ts';
import { gatewayGroup } from '../field-defaults.ts';

/** The description of one kind. */
export interface KindTable<B extends ObjectNode = ObjectNode> {
  readonly group: string;
  readonly kind: string;
  /** The resource in URLs and RBAC rules. Fixed: discovery may be absent, late or wrong. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** A kind exists in a bundle if at least one of its versions does. */
  readonly versions: readonly MaybeVersioned<KindVersion>[];
  /** The fields besides apiVersion, kind and metadata. */
  readonly body: B;
  /** For messages: the replacement of this kind in bundles without it. */
  readonly instead?: MaybeVersioned<string>;
}

export interface KindVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** The API server responds with a warning. */
  readonly deprecated?: boolean;
  /** The schema of this version if it differs from that of the others. */
  readonly body?: ObjectNode;
}

/** A kind of the group gateway.networking.k8s.io. */
export function gatewayTable<B extends ObjectNode>(table: Omit<KindTable<B>, 'group'>): KindTable<B> {
  return { group: gatewayGroup, ...table };
}

/** The storage version; `body` if it has its own schema. */
export function stored(name: string, body?: ObjectNode): KindVersion {
  return { ...served(name, body), storage: true };
}

/** A version that is served in addition to the storage version. */
export function served(name: string, body?: ObjectNode): KindVersion {
  return { name, served: true, storage: false, ...(body === undefined ? {} : { body }) };
}

/** A version that is still served, with a warning. */
export function deprecated(name: string, body?: ObjectNode): KindVersion {
  return { ...served(name, body), deprecated: true };
}

/** A version that is no longer served, but kept because stored objects may have it. */
export function unserved(name: string, body?: ObjectNode): KindVersion {
  return { ...deprecated(name, body), served: false };
}

/** v1 and v1beta1, which are identical; v1 is the storage version since v1.1. */
export const v1AndBeta: KindTable['versions'] = [
  versions(served('v1'), since('1.1', stored('v1'))),
  versions(stored('v1beta1'), since('1.1', served('v1beta1'))),
];

/** A kind of the group gateway.networking.x-k8s.io, which exists only in the experimental channel. */
export function experimentalTable<B extends ObjectNode>(table: Omit<KindTable<B>, 'group'>): KindTable<B> {
  return { group: experimentalGroup, ...table };
}

const experimentalGroup = 'gateway.networking.x-k8s.io';

/** The two groups of the Gateway API. */
export const gatewayGroups: readonly string[] = [gatewayGroup, experimentalGroup];

/** The group of Sallyport's own kinds. */
export const ownGroup = 'sallyport.dev';

/** The groups whose objects are validated. */
export const judgedGroups: readonly string[] = [...gatewayGroups, ownGroup];

/** The group of the Multi-Cluster Services API (KEP-1645, sigs.k8s.io/mcs-api). */
export const multiclusterGroup = 'multicluster.x-k8s.io';

/** The groups of kinds that exist only if a CRD is installed. The others are part of Kubernetes. */
export const customGroups: readonly string[] = [...judgedGroups, multiclusterGroup];

/** The group of certificates of Kubernetes itself. */
export const certificatesGroup = 'certificates.k8s.io';

/** The groups of Kubernetes whose kinds only some API servers serve. Their discovery documents tell. */
export const optionalGroups: readonly string[] = [certificatesGroup];

/** The schema of an object of this kind besides metadata: the version's own table if it has one. */
export function bodyOf(table: KindTable, json: unknown): ObjectNode {
  const apiVersion = isRecord(json) ? property(json, 'apiVersion') : undefined;
  const versions = table.versions.flatMap((version) => allVariants(version));
  return versions.find((version) => apiVersionOf(table, version.name) === apiVersion)?.body ?? table.body;
}

/** `gateway.networking.k8s.io/v1`, or `v1` in the core group. */
export function apiVersionOf(table: Pick<KindTable, 'group'>, version: string): string {
  return table.group === '' ? version : `${table.group}/${version}`;
}
