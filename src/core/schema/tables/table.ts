import { allVariants, type MaybeVersioned } from '../availability.ts';
import { isRecord, property } from '../json.ts';
import type { ObjectNode } from '../node.ts';
import { gatewayGroup } from './common.ts';

/** All that is known about one kind. */
export interface KindTable<B extends ObjectNode = ObjectNode> {
  readonly group: string;
  readonly kind: string;
  /** The resource in URLs and RBAC rules. Fixed: discovery may be absent, late or wrong. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** A kind exists in a bundle where at least one of its versions does. */
  readonly versions: readonly MaybeVersioned<KindVersion>[];
  /** What stands beside apiVersion, kind and metadata. */
  readonly body: B;
}

export interface KindVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** The API server answers with a warning. */
  readonly deprecated?: boolean;
  /** Where this version's schema differs from the others'. */
  readonly body?: ObjectNode;
}

/** A kind of the group gateway.networking.k8s.io. */
export function gatewayTable<B extends ObjectNode>(table: Omit<KindTable<B>, 'group'>): KindTable<B> {
  return { group: gatewayGroup, ...table };
}

/** What an object of this kind looks like beside metadata: the version's own table where it has one. */
export function bodyOf(table: KindTable, json: unknown): ObjectNode {
  const apiVersion = isRecord(json) ? property(json, 'apiVersion') : undefined;
  const versions = table.versions.flatMap((version) => allVariants(version));
  return versions.find((version) => apiVersionOf(table, version.name) === apiVersion)?.body ?? table.body;
}

/** `gateway.networking.k8s.io/v1`, or `v1` in the core group. */
export function apiVersionOf(table: Pick<KindTable, 'group'>, version: string): string {
  return table.group === '' ? version : `${table.group}/${version}`;
}
