import { bundleOfKind } from '../cluster/installed-bundle.ts';
import type { ClusterFacts, Definition } from '../core/preflight/facts.ts';
import { gatewayKinds, resourceOf, textsOf } from '../core/preflight/target.ts';
import {
  findKind,
  isKindName,
  isSchemaKind,
  parseChannel,
  schemaTables,
  type SchemaKind,
} from '../core/schema/index.ts';
import { recordOf, recordsOf } from '../core/text/record.ts';
import {
  createClient,
  isForbidden,
  isNotFound,
  listPages,
  loadCredentials,
  preferredVersion,
  readInstalledKind,
  resourceType,
  type ApiClient,
  type CredentialSource,
  type KubernetesObject,
  type ResourceType,
} from '../kubernetes/index.ts';
import {
  listPermitted,
  servedAmong,
  type DiscoveredKind,
  type ForbiddenKind,
  type ListedKind,
  type MissingPermissions,
} from './cluster-objects.ts';
import type { SourceObjects } from './objects.ts';
import { RoomForObjects } from './room-for-objects.ts';

/** Facts about a cluster before an upgrade of its CRDs, and the objects of kinds that nothing else reads. */
export interface UpgradeFacts {
  readonly facts: ClusterFacts;
  readonly others: readonly KubernetesObject[];
  /** All missing permissions, including those of `ReadSource`. */
  readonly missing: MissingPermissions;
}

/** What is known about the cluster from reading its objects. */
type ReadSource = Pick<SourceObjects, 'definitions' | 'definitionsForbidden' | 'forbidden'>;

const admissionPolicies: ResourceType = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};

/**
 * Reads the facts about a cluster that an upgrade of its CRDs depends on.
 *
 * @param namespace where to list kinds that the credentials may not list in all namespaces
 * @throws errors of the kubeconfig and of the API server, with a message for people
 */
export async function readUpgradeFacts(
  credentials: CredentialSource,
  source: ReadSource,
  namespace?: string,
): Promise<UpgradeFacts> {
  const client = createClient(await loadCredentials(credentials));
  try {
    const others = await listOthers(client, source, namespace);
    const policies = await readPermitted(readPolicies(client));
    const kubernetes = await readPermitted(readVersion(client));
    const { definitions, definitionsForbidden } = source;
    const missing: MissingPermissions = {
      definitionsForbidden,
      policiesForbidden: policies.forbidden,
      versionForbidden: kubernetes.forbidden,
      forbidden: [...source.forbidden, ...others.forbidden],
    };
    const { forbidden: unobserved, ...messages } = missing;
    const facts: ClusterFacts = {
      definitions: definitions.map(definitionOf),
      kubernetes: kubernetes.value,
      policies: policies.value ?? new Map(),
      storageMigration: await readStorageMigration(client),
      unobserved,
      ...messages,
    };
    return { facts, others: others.objects, missing };
  } finally {
    await client.close();
  }
}

/** Objects of kinds that Sallyport does not evaluate, such as XListenerSet. */
export interface OtherObjects {
  readonly objects: readonly KubernetesObject[];
  /** Kinds that the credentials may not list in all namespaces. */
  readonly forbidden: readonly ForbiddenKind[];
}

/** The objects if there is no cluster. */
export const noOthers: OtherObjects = { objects: [], forbidden: [] };

/**
 * Lists the objects of installed Gateway API kinds that Sallyport does not evaluate, such as XListenerSet.
 *
 * @param namespace where to list kinds that the credentials may not list in all namespaces
 * @throws errors of the kubeconfig and of the API server, with a message for people
 */
export async function readOtherObjects(
  credentials: CredentialSource,
  source: ReadSource,
  namespace?: string,
): Promise<OtherObjects> {
  const client = createClient(await loadCredentials(credentials));
  try {
    return await listOthers(client, source, namespace);
  } finally {
    await client.close();
  }
}

async function listOthers(
  client: ApiClient,
  { definitions, definitionsForbidden }: ReadSource,
  namespace: string | undefined,
): Promise<OtherObjects> {
  const objects: KubernetesObject[] = [];
  const forbidden: ForbiddenKind[] = [];
  // Without the permission to list CRDs, the discovery documents tell which kinds are served.
  const found =
    definitionsForbidden === undefined
      ? definitions.map((definition) => ({ installed: readInstalledKind(definition), undiscovered: undefined }))
      : await servedAmong(client, otherKinds);
  const room = new RoomForObjects();
  for (const other of found.flatMap(listedOther)) {
    const listed = await listPermitted(client, other, { namespace, room });
    if (listed.forbidden !== undefined) forbidden.push(listed.forbidden);
    // One call for all would exceed the stack.
    for (const object of listed.objects) objects.push(object);
  }
  return { objects, forbidden };
}

/** Converts an installed CRD to the form that preflight checks. */
export function definitionOf(definition: KubernetesObject): Definition {
  const installed = readInstalledKind(definition);
  const { metadata } = definition;
  const managers = recordsOf(metadata['managedFields'])
    .filter(({ subresource }) => subresource === undefined || subresource === '')
    .map(({ manager }) => manager);
  return {
    name: installed.name,
    kind:
      findKind(installed.group, installed.kind) !== undefined && isSchemaKind(installed.kind)
        ? installed.kind
        : undefined,
    bundle: bundleOfKind(installed).bundle,
    channel: parseChannel(installed.annotations['gateway.networking.k8s.io/channel']),
    storage: installed.versions.find(({ storage }) => storage)?.name,
    storedVersions: installed.storedVersions,
    labels: textsOf(metadata.labels),
    annotations: textsOf(metadata.annotations),
    managers: [...new Set(managers.filter((manager) => typeof manager === 'string'))],
  };
}

const otherKinds: readonly SchemaKind[] = gatewayKinds.filter((kind) => !isKindName(kind));

/** How to list the objects of a kind that nothing else reads; none for other kinds, and for a kind that is not served. */
function listedOther({ installed, undiscovered }: DiscoveredKind): readonly ListedKind[] {
  const kind = otherKinds.find((other) => resourceOf(other) === installed.name);
  const version = preferredVersion(installed);
  return kind === undefined || version === undefined || !installed.established
    ? []
    : [{ kind, type: resourceType(schemaTables[kind], version), undiscovered }];
}

async function readPolicies(client: ApiClient): Promise<ReadonlyMap<string, string>> {
  const policies = new Map<string, string>();
  const room = new RoomForObjects();
  for await (const page of listPages(
    client,
    { type: admissionPolicies, part: 'metadata' },
    new AbortController().signal,
  )) {
    room.take(page);
    for (const { metadata } of page.objects)
      policies.set(metadata.name, textsOf(metadata.annotations)['gateway.networking.k8s.io/bundle-version'] ?? '');
  }
  return policies;
}

/** A value. `forbidden`: the message of an API server that forbids the read. Both are `undefined` for what it does not have. */
interface Permitted<T> {
  readonly value?: T;
  readonly forbidden?: string;
}

async function readPermitted<T>(reading: Promise<T>): Promise<Permitted<T>> {
  try {
    return { value: await reading };
  } catch (error) {
    if (isNotFound(error)) return {};
    if (isForbidden(error)) return { forbidden: error.message };
    throw error;
  }
}

async function readVersion(client: ApiClient): Promise<string | undefined> {
  const { gitVersion } = recordOf(await client.request({ path: '/version' }));
  return typeof gitVersion === 'string' ? gitVersion : undefined;
}

/** Without the permission, the commands of preflight do without storage migrations. */
async function readStorageMigration(client: ApiClient): Promise<string | undefined> {
  const { value } = await readPermitted(client.request({ path: '/apis/storagemigration.k8s.io' }));
  const { version } = recordOf(recordOf(value)['preferredVersion']);
  return typeof version === 'string' ? version : undefined;
}
