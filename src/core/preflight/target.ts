import { gatewayGroups, releases, resolveAll, schemaTables, type Bundle, type KindTable, type KindVersion, type SchemaKind } from '../schema/index.ts';
import { isRecord, type JsonRecord } from '../text/record.ts';
import type { ObjectRef } from '../resources/reference.ts';
import { shellWord } from './finding.ts';

/** The bundle that shall be installed. */
export interface Target {
  readonly bundle: Bundle;
  /** The release, such as `v1.7.0`. */
  readonly version: string;
}

/** The last release of a bundle's minor version. */
export function targetOf(bundle: Bundle): Target {
  return { bundle, version: releases[bundle.minor] };
}

/** `v1.7.0 standard` */
export function nameOfTarget({ bundle, version }: Target): string {
  return `${version} ${bundle.channel}`;
}

/** An object of a kind of the Gateway API as it is stored. */
export interface StoredObject {
  readonly kind: SchemaKind;
  readonly ref: ObjectRef;
  readonly json: JsonRecord;
}

/** The kinds of the Gateway API that have a schema in some bundle. */
export const gatewayKinds: readonly SchemaKind[] = (Object.keys(schemaTables) as SchemaKind[]).filter((kind) => gatewayGroups.includes(schemaTables[kind].group));

/** The versions of a kind that the CRD of a bundle lists, served or not; none where the bundle does not have the kind. */
export function listedVersions(kind: SchemaKind, bundle: Bundle): readonly KindVersion[] {
  const table: KindTable = schemaTables[kind];
  return resolveAll(table.versions, bundle);
}

/** The version that objects of a kind are read in: v1 where it is served, otherwise the one that they are stored as. */
export function readVersion(kind: SchemaKind, bundle: Bundle): string | undefined {
  const served = listedVersions(kind, bundle).filter((version) => version.served);
  return (served.find(({ name }) => name === 'v1') ?? served.find(({ storage }) => storage) ?? served[0])?.name;
}

/** An object with the apiVersion in which a bundle serves its kind; `undefined` where the bundle does not have the kind. CRDs convert nothing else. */
export function asServedBy(kind: SchemaKind, json: JsonRecord, bundle: Bundle): JsonRecord | undefined {
  const version = readVersion(kind, bundle);
  return version === undefined ? undefined : { ...json, apiVersion: `${schemaTables[kind].group}/${version}` };
}

/** The resource with its group: `httproutes.gateway.networking.k8s.io` */
export function resourceOf(kind: SchemaKind): string {
  const { plural, group } = schemaTables[kind];
  return `${plural}.${group}`;
}

/** The command that opens an object in an editor. */
export function editCommand({ kind, ref }: StoredObject): string {
  return `kubectl edit ${resourceOf(kind)} ${shellWord(ref.name)}${ref.namespace === '' ? '' : ` -n ${shellWord(ref.namespace)}`}`;
}

/** The command that installs a bundle. */
export function installCommand({ bundle, version }: Target): string {
  return `kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/${version}/${bundle.channel}-install.yaml`;
}

/** The command that installs one CRD of a bundle. */
export function installOneCommand(kind: SchemaKind, bundle: Bundle): string {
  const { plural, group } = schemaTables[kind];
  return `kubectl apply --server-side -f https://raw.githubusercontent.com/kubernetes-sigs/gateway-api/${releases[bundle.minor]}/config/crd/${bundle.channel}/${group}_${plural}.yaml`;
}

/** The annotations of an object, only those that are texts. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
