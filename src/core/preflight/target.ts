import { parseObject } from '../resources/parse.ts';
import {
  findKind,
  gatewayGroups,
  isSchemaKind,
  releases,
  resolveAll,
  schemaTables,
  type Bundle,
  type KindTable,
  type KindVersion,
  type SchemaKind,
} from '../schema/index.ts';
import { isRecord, type JsonRecord } from '../text/record.ts';
import type { ObjectRef } from '../resources/reference.ts';
import { shellWord } from './finding.ts';
import { groupOf } from '../text/api-version.ts';

/** The bundle to install. */
export interface Target {
  readonly bundle: Bundle;
  /** The release, such as `v1.7.0`. */
  readonly version: string;
}

/** Returns the latest release of a bundle's minor version. */
export function targetOf(bundle: Bundle): Target {
  return { bundle, version: releases[bundle.minor] };
}

/** `v1.7.0 standard` */
export function nameOfTarget({ bundle, version }: Target): string {
  return `${version} ${bundle.channel}`;
}

/** A stored object of a kind of the Gateway API. */
export interface StoredObject {
  readonly kind: SchemaKind;
  readonly ref: ObjectRef;
  readonly json: JsonRecord;
}

/** Returns the object if its kind belongs to the Gateway API, otherwise nothing. */
export function storedObject(value: unknown): readonly StoredObject[] {
  if (!isRecord(value)) return [];
  const parsed = parseObject(value);
  if (parsed.type !== 'resource' && parsed.type !== 'unserved') return [];
  const ref = parsed.type === 'resource' ? parsed.resource.ref : parsed.ref;
  const isKnown = findKind(groupOf(parsed.apiVersion), ref.kind) !== undefined;
  return isKnown && isSchemaKind(ref.kind) && gatewayKinds.includes(ref.kind)
    ? [{ kind: ref.kind, ref, json: value }]
    : [];
}

/** The kinds of the Gateway API with a schema in any bundle. */
export const gatewayKinds: readonly SchemaKind[] = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) =>
  gatewayGroups.includes(schemaTables[kind].group),
);

/** Returns the versions of a kind that the CRD of a bundle lists, served or not; none if the bundle does not have the kind. */
export function listedVersions(kind: SchemaKind, bundle: Bundle): readonly KindVersion[] {
  const table: KindTable = schemaTables[kind];
  return resolveAll(table.versions, bundle);
}

/** Returns the version in which objects of a kind are read: v1 if it is served, otherwise the storage version. */
export function readVersion(kind: SchemaKind, bundle: Bundle): string | undefined {
  const served = listedVersions(kind, bundle).filter((version) => version.served);
  return (served.find(({ name }) => name === 'v1') ?? served.find(({ storage }) => storage) ?? served[0])?.name;
}

/**
 * Returns an object with the apiVersion that a bundle serves; `undefined` if the bundle does not have the kind. Conversion
 * between versions of these CRDs changes only the apiVersion.
 */
export function asServedBy(kind: SchemaKind, json: JsonRecord, bundle: Bundle): JsonRecord | undefined {
  const version = readVersion(kind, bundle);
  return version === undefined ? undefined : { ...json, apiVersion: `${schemaTables[kind].group}/${version}` };
}

/** Returns the resource with its group: `httproutes.gateway.networking.k8s.io`, `services` */
export function resourceOf(kind: SchemaKind): string {
  const { plural, group } = schemaTables[kind];
  return group === '' ? plural : `${plural}.${group}`;
}

/** A kind with a schema, and the name of an object. */
type Named = Pick<StoredObject, 'kind'> & { readonly ref: Pick<ObjectRef, 'namespace' | 'name'> };

/** Returns the command that opens an object in an editor. */
export function editCommand(object: Named): string {
  return `kubectl edit ${kubectlName(object)}`;
}

/** Returns the command that prints an object, with its field managers. */
export function showCommand(object: Named): string {
  return `kubectl get ${kubectlName(object)} -o yaml --show-managed-fields`;
}

function kubectlName({ kind, ref: { namespace, name } }: Named): string {
  return `${resourceOf(kind)} ${shellWord(name)}${namespace === '' ? '' : ` -n ${shellWord(namespace)}`}`;
}

/** Returns the command that installs a bundle. */
export function installCommand({ bundle, version }: Target): string {
  return `kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/${version}/${bundle.channel}-install.yaml`;
}

/** Returns the command that installs one CRD of a bundle. */
export function installOneCommand(kind: SchemaKind, bundle: Bundle): string {
  const { plural, group } = schemaTables[kind];
  return `kubectl apply --server-side -f https://raw.githubusercontent.com/kubernetes-sigs/gateway-api/${releases[bundle.minor]}/config/crd/${bundle.channel}/${group}_${plural}.yaml`;
}

/** Returns the annotations or labels of an object whose values are strings. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
