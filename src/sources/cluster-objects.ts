import type { Installation } from '../core/graph/inputs.ts';
import { readVersion } from '../core/preflight/target.ts';
import {
  customGroups,
  gatewayGroups,
  isKindName,
  minors,
  optionalGroups,
  schemaTables,
  tables,
  type Bundle,
  type KindName,
  type SchemaKind,
} from '../core/schema/index.ts';
import { controllerKinds, installationIn, selections } from '../cluster/cluster-state.ts';
import { bundleOfKind } from '../cluster/installed-bundle.ts';
import {
  customResourceDefinitions,
  isForbidden,
  isNotFound,
  listPages,
  preferredVersion,
  readInstalledKind,
  readServedKind,
  servedKind,
  resourceType,
  type ApiClient,
  type InstalledKind,
  type KubernetesObject,
  type ResourceType,
  type Selection,
} from '../kubernetes/index.ts';
import { RoomForObjects } from './room-for-objects.ts';

/** The objects of a cluster at one point in time. */
export interface ClusterObjects {
  readonly objects: readonly KubernetesObject[];
  readonly installation: Installation;
  /** The CRDs of the Gateway API. */
  readonly definitions: readonly KubernetesObject[];
  /** The message of an API server that forbids to list CRDs. */
  readonly definitionsForbidden: string | undefined;
  /** The bundle of the installed CRDs, by HTTPRoute. */
  readonly bundle: Bundle;
  /** Kinds that the credentials may not list in all namespaces, with the API server's message. */
  readonly forbidden: readonly ForbiddenKind<KindName>[];
}

/** Missing permissions, with the API server's messages. */
export interface MissingPermissions {
  /** Set if the credentials may not list CRDs. */
  readonly definitionsForbidden?: string | undefined;
  /** Set if the credentials may not list ValidatingAdmissionPolicies. Only preflight reads them, and the version. */
  readonly policiesForbidden?: string | undefined;
  /** Set if the credentials may not read the version of Kubernetes. */
  readonly versionForbidden?: string | undefined;
  readonly forbidden: readonly ForbiddenKind[];
}

/** A kind that the credentials may not list in all namespaces. */
export interface ForbiddenKind<K extends string = SchemaKind> {
  readonly kind: K;
  /** The message of the API server. */
  readonly message: string;
  /** The only namespace in which its objects are observed; `undefined`: they are not observed. */
  readonly namespace: string | undefined;
}

/**
 * Lists all objects that the controller reads. A kind that the credentials may not list in all namespaces counts as unobserved outside
 * of `namespace`: the evaluation does not judge references to its objects there.
 *
 * @param client a client for the cluster
 * @param controllerName the controllerName of our GatewayClasses
 * @param namespace where to list kinds that the credentials may not list in all namespaces
 * @throws ApiError, ConnectionError and ProtocolError if a list fails for another reason than missing permissions, and an error if this
 *   process has no room for the objects
 */
export async function readClusterObjects(
  client: ApiClient,
  controllerName: string,
  namespace?: string,
): Promise<ClusterObjects> {
  const room = new RoomForObjects();
  const { all, forbidden: definitionsForbidden } = await readDefinitions(client, room);
  const definitions = all.filter(isOfGatewayApi);
  const groups = definitionsForbidden === undefined ? optionalGroups : [...customGroups, ...optionalGroups];
  const discovered = await servedKinds(client, groups);
  const installed = new Map([
    ...establishedKinds(all.filter((definition) => isOf(customGroups, definition))),
    ...discovered.map(({ installed: kind }): [string, InstalledKind] => [kind.name, kind]),
  ]);
  const undiscovered = new Map(discovered.map((kind) => [kind.installed.name, kind.undiscovered]));
  const objects: KubernetesObject[] = [];
  const forbidden: ForbiddenKind<KindName>[] = [];
  const observed: KindName[] = [];
  for (const kind of controllerKinds) {
    const type = typeOf(kind, installed);
    const found = { kind, type, undiscovered: undiscovered.get(definitionOf(kind)) };
    const listed =
      type === undefined ? { objects: [] } : await listPermitted(client, { ...found, type }, { namespace, room });
    // One call for all would exceed the stack.
    for (const object of listed.objects) objects.push(object);
    if (listed.forbidden === undefined) observed.push(kind);
    else forbidden.push({ ...listed.forbidden, kind });
  }
  const { bundle } = bundleOfKind(installed.get('httproutes.gateway.networking.k8s.io'));
  const partly = forbidden.flatMap(({ kind, namespace }) => (namespace === undefined ? [] : [[kind, namespace]]));
  const installation = installationIn(installed, observed, controllerName, Object.fromEntries(partly));
  return { objects, forbidden, definitions, definitionsForbidden, bundle, installation };
}

/** The CRDs. Without the permission to list them, the discovery documents tell which kinds are served, but not their schemas. */
async function readDefinitions(
  client: ApiClient,
  room: RoomForObjects,
): Promise<{ readonly all: readonly KubernetesObject[]; readonly forbidden: string | undefined }> {
  try {
    return { all: await collect(client, { type: customResourceDefinitions }, room), forbidden: undefined };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { all: [], forbidden: error.message };
  }
}

/** Returns sentences about missing permissions: one for CRDs, and one for all kinds that are observed in the same way. */
export function permissionNotes(missing: MissingPermissions): readonly string[] {
  const { definitionsForbidden, policiesForbidden, versionForbidden, forbidden } = missing;
  return [
    ...definitionNotes(definitionsForbidden),
    ...kindNotes(forbidden),
    ...(policiesForbidden === undefined ? [] : [`ValidatingAdmissionPolicies are not observed: ${policiesForbidden}`]),
    ...(versionForbidden === undefined ? [] : [`The version of Kubernetes is not observed: ${versionForbidden}`]),
  ];
}

function definitionNotes(forbidden: string | undefined): readonly string[] {
  const { minor, channel } = bundleOfKind(undefined).bundle;
  return forbidden === undefined
    ? []
    : [`CustomResourceDefinitions are not observed, v${minor} ${channel} is assumed: ${forbidden}`];
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

/** The kinds of some groups that the API server serves, or may serve. */
function servedKinds(client: ApiClient, groups: readonly string[]): Promise<readonly DiscoveredKind[]> {
  return servedAmong(
    client,
    controllerKinds.filter((kind) => groups.includes(tables[kind].group)),
  );
}

/** A kind that the API server serves, by its discovery documents. */
export interface DiscoveredKind {
  readonly installed: InstalledKind;
  /** The message of an API server that forbids to read the documents. The kind may be served, and its version is assumed. */
  readonly undiscovered: string | undefined;
}

/**
 * The kinds among some that the API server serves, or may serve.
 *
 * @throws ApiError, ConnectionError and ProtocolError for another reason than missing permissions
 */
export async function servedAmong(client: ApiClient, kinds: readonly SchemaKind[]): Promise<readonly DiscoveredKind[]> {
  const discovered = await Promise.all(
    kinds.map(async (kind): Promise<readonly DiscoveredKind[]> => {
      const entry = schemaTables[kind];
      try {
        const installed = await readServedKind(client, entry);
        return installed === undefined ? [] : [{ installed, undiscovered: undefined }];
      } catch (error) {
        if (!isForbidden(error)) throw error;
        const version = assumedVersion(kind);
        return version === undefined ? [] : [{ installed: servedKind(entry, [version]), undiscovered: error.message }];
      }
    }),
  );
  return discovered.flat();
}

/** The version of a kind in the newest bundle that has it. */
function assumedVersion(kind: SchemaKind): string | undefined {
  return minors
    .map((minor) => readVersion(kind, { minor, channel: 'experimental' }))
    .findLast((version) => version !== undefined);
}

/** The resource of a kind. `undefined` if the kind is not installed. */
function typeOf(kind: KindName, installed: ReadonlyMap<string, InstalledKind>): ResourceType | undefined {
  const entry = tables[kind];
  const definition = installed.get(definitionOf(kind));
  const isOptional = [...customGroups, ...optionalGroups].includes(entry.group);
  const version = isOptional ? definition && preferredVersion(definition) : 'v1';
  return version === undefined ? undefined : resourceType(entry, version);
}

function definitionOf(kind: KindName): string {
  const { plural, group } = tables[kind];
  return `${plural}.${group}`;
}

/** A kind, and the resource of its objects. */
export interface ListedKind {
  readonly kind: SchemaKind;
  readonly type: ResourceType;
  /** As in `DiscoveredKind`. */
  readonly undiscovered: string | undefined;
}

/** The objects that may be listed. `forbidden` is set if these are not all. */
interface Listed {
  readonly objects: readonly KubernetesObject[];
  readonly forbidden?: ForbiddenKind;
}

/** Where to list objects, and the room for them. */
export interface ListPlace {
  readonly namespace: string | undefined;
  readonly room: RoomForObjects;
}

/**
 * Lists all objects of a kind, or those in `namespace` if the credentials do not suffice for all.
 *
 * @throws as `collect` does, except for missing permissions
 */
export async function listPermitted(client: ApiClient, listed: ListedKind, place: ListPlace): Promise<Listed> {
  const { kind, type } = listed;
  const { namespace, room } = place;
  const all = await list(client, listed, { namespace: undefined, room });
  if (typeof all !== 'string') return { objects: all };
  const own = namespace === undefined || !type.namespaced ? all : await list(client, listed, place);
  return typeof own === 'string'
    ? { objects: [], forbidden: { kind, message: all, namespace: undefined } }
    : { objects: own, forbidden: { kind, message: all, namespace } };
}

/** Returns a sentence for all kinds that are observed in the same way. */
export function kindNotes(forbidden: readonly ForbiddenKind<string>[]): readonly string[] {
  const places = [...new Set(forbidden.map(({ namespace }) => namespace))];
  return places.map((namespace) => {
    const alike = forbidden.filter((one) => one.namespace === namespace);
    const kinds = alike.map(({ kind }) => kind).join(', ');
    const extent = namespace === undefined ? 'not observed' : `observed only in namespace "${namespace}"`;
    const [{ message } = { message: '' }] = alike;
    return alike.length === 1
      ? `Objects of kind ${kinds} are ${extent}: ${message}`
      : `Objects of the kinds ${kinds} are ${extent}. For example: ${message}`;
  });
}

/** @returns the objects, or the message of an API server that forbids the list */
async function list(
  client: ApiClient,
  { kind, type, undiscovered }: ListedKind,
  { namespace, room }: ListPlace,
): Promise<readonly KubernetesObject[] | string> {
  try {
    const { apiVersion } = type;
    const place = namespace === undefined ? {} : { namespace };
    const selection = { type, ...(isKindName(kind) ? selections[kind] : {}), ...place };
    return (await collect(client, selection, room)).map((object) => ({ ...object, apiVersion, kind }));
  } catch (error) {
    if (isForbidden(error)) return error.message;
    // The API server may serve another version than the assumed one.
    if (undiscovered !== undefined && isNotFound(error)) return undiscovered;
    throw error;
  }
}

/** Lists all objects of a selection. @throws as `listPages` does, and an error if there is no room for them */
export async function collect(
  client: ApiClient,
  selection: Selection,
  room = new RoomForObjects(),
): Promise<readonly KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  let characters = 0;
  for await (const page of listPages(client, selection, new AbortController().signal)) {
    if (page.restarted) {
      room.release({ objects, characters });
      objects.length = 0;
      characters = 0;
    }
    room.take(page);
    characters += page.characters;
    for (const object of page.objects) objects.push(object);
  }
  return objects;
}
