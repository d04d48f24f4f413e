import type { Installation } from '../core/graph/inputs.ts';
import {
  customGroups,
  gatewayGroups,
  isKindName,
  optionalGroups,
  tables,
  type Bundle,
  type KindName,
  type SchemaKind,
} from '../core/schema/index.ts';
import { controllerKinds, installationIn, selections } from '../cluster/cluster-state.ts';
import { bundleOfKind } from '../cluster/installed-bundle.ts';
import {
  ApiError,
  customResourceDefinitions,
  listPages,
  preferredVersion,
  readInstalledKind,
  readServedKind,
  resourceType,
  type ApiClient,
  type InstalledKind,
  type KubernetesObject,
  type ResourceType,
  type Selection,
} from '../kubernetes/index.ts';

/** The objects of a cluster at one point in time. */
export interface ClusterObjects {
  readonly objects: readonly KubernetesObject[];
  readonly installation: Installation;
  /** The CRDs of the Gateway API. */
  readonly definitions: readonly KubernetesObject[];
  /** The bundle of the installed CRDs, by HTTPRoute. */
  readonly bundle: Bundle;
  /** Kinds that the credentials may not list, with the API server's message. */
  readonly forbidden: readonly { readonly kind: KindName; readonly message: string }[];
}

/**
 * Lists all objects that the controller reads. A kind that the credentials may not list is left out, and the evaluation does not
 * judge references to it.
 *
 * @param client a client for the cluster
 * @param controllerName the controllerName of our GatewayClasses
 * @throws ApiError, ConnectionError and ProtocolError if the CRDs cannot be listed, or a list fails for another reason
 */
export async function readClusterObjects(client: ApiClient, controllerName: string): Promise<ClusterObjects> {
  const all = await collect(client, { type: customResourceDefinitions });
  const definitions = all.filter(isOfGatewayApi);
  const installed = new Map([
    ...establishedKinds(all.filter((definition) => isOf(customGroups, definition))),
    ...(await servedKinds(client)),
  ]);
  const objects: KubernetesObject[] = [];
  const forbidden: { kind: KindName; message: string }[] = [];
  const observed: KindName[] = [];
  for (const kind of controllerKinds) {
    const type = typeOf(kind, installed);
    const listed = type === undefined ? [] : await listAll(client, kind, type);
    if (typeof listed === 'string') {
      forbidden.push({ kind, message: listed });
      continue;
    }
    observed.push(kind);
    objects.push(...listed);
  }
  const { bundle } = bundleOfKind(installed.get('httproutes.gateway.networking.k8s.io'));
  return { objects, forbidden, definitions, bundle, installation: installationIn(installed, observed, controllerName) };
}

/** Whether a CRD belongs to one of the groups of the Gateway API. */
export function isOfGatewayApi(definition: KubernetesObject): boolean {
  return isOf(gatewayGroups, definition);
}

function isOf(groups: readonly string[], definition: KubernetesObject): boolean {
  return groups.includes(readInstalledKind(definition).group);
}

function establishedKinds(definitions: readonly KubernetesObject[]): ReadonlyMap<string, InstalledKind> {
  return new Map(
    definitions
      .map(readInstalledKind)
      .filter(({ established }) => established)
      .map((kind) => [kind.name, kind]),
  );
}

/** The optional kinds of Kubernetes that the API server serves. */
async function servedKinds(client: ApiClient): Promise<readonly (readonly [string, InstalledKind])[]> {
  const kinds = controllerKinds.map((kind) => tables[kind]).filter(({ group }) => optionalGroups.includes(group));
  const served = await Promise.all(kinds.map((kind) => readServedKind(client, kind)));
  return served.flatMap((kind) => (kind === undefined ? [] : [[kind.name, kind] as const]));
}

/** The resource of a kind. `undefined` if the kind is not installed. */
function typeOf(kind: KindName, installed: ReadonlyMap<string, InstalledKind>): ResourceType | undefined {
  const entry = tables[kind];
  const definition = installed.get(`${entry.plural}.${entry.group}`);
  const isOptional = [...customGroups, ...optionalGroups].includes(entry.group);
  const version = isOptional ? definition && preferredVersion(definition) : 'v1';
  return version === undefined ? undefined : resourceType(entry, version);
}

/** @returns the objects, or the message of an API server that forbids the list */
export async function listAll(
  client: ApiClient,
  kind: SchemaKind,
  type: ResourceType,
): Promise<readonly KubernetesObject[] | string> {
  try {
    const { apiVersion } = type;
    return (await collect(client, { type, ...(isKindName(kind) ? selections[kind] : {}) })).map((object) => ({
      ...object,
      apiVersion,
      kind,
    }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return error.message;
    throw error;
  }
}

/** Lists all objects of a selection. @throws as `listPages` does */
export async function collect(client: ApiClient, selection: Selection): Promise<readonly KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for await (const page of listPages(client, selection, new AbortController().signal)) {
    if (page.restarted) objects.length = 0;
    for (const object of page.objects) objects.push(object);
  }
  return objects;
}
