import { bundleOfKind } from '../cluster/installed-bundle.ts';
import type { ClusterFacts, Definition } from '../core/preflight/facts.ts';
import { textsOf } from '../core/preflight/target.ts';
import { findKind, isKindName, isSchemaKind, knownKinds, parseChannel, type SchemaKind } from '../core/schema/index.ts';
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
  type InstalledKind,
  type KubernetesObject,
  type ResourceType,
} from '../kubernetes/index.ts';
import { listPermitted, servedAmong, type ForbiddenKind } from './cluster-objects.ts';

/** Facts about a cluster before an upgrade of its CRDs, and the objects of kinds that nothing else reads. */
export interface UpgradeFacts {
  readonly facts: ClusterFacts;
  readonly others: OtherObjects;
  /** The message of an API server that forbids to list ValidatingAdmissionPolicies. */
  readonly policiesForbidden?: string;
}

const admissionPolicies: ResourceType = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};

/**
 * Reads the facts about a cluster that an upgrade of its CRDs depends on.
 *
 * @param definitions the installed CRDs of the Gateway API; none if the credentials may not list them
 * @param namespace where to list kinds that the credentials may not list in all namespaces
 * @throws errors of the kubeconfig and of the API server, with a message for people
 */
export async function readUpgradeFacts(
  source: CredentialSource,
  definitions: readonly KubernetesObject[],
  namespace?: string,
): Promise<UpgradeFacts> {
  const client = createClient(await loadCredentials(source));
  try {
    const others = await listOthers(client, definitions, namespace);
    const policies = await unlessForbidden(readPolicies(client));
    const facts: ClusterFacts = {
      definitions: definitions.map(definitionOf),
      kubernetes: await readVersion(client),
      policies: typeof policies === 'string' ? new Map() : policies,
      storageMigration: await readStorageMigration(client),
    };
    return { facts, others, ...(typeof policies === 'string' && { policiesForbidden: policies }) };
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
 * @param definitions the installed CRDs of the Gateway API; none if the credentials may not list them
 * @param namespace where to list kinds that the credentials may not list in all namespaces
 * @throws errors of the kubeconfig and of the API server, with a message for people
 */
export async function readOtherObjects(
  source: CredentialSource,
  definitions: readonly KubernetesObject[],
  namespace?: string,
): Promise<OtherObjects> {
  const client = createClient(await loadCredentials(source));
  try {
    return await listOthers(client, definitions, namespace);
  } finally {
    await client.close();
  }
}

async function listOthers(
  client: ApiClient,
  definitions: readonly KubernetesObject[],
  namespace: string | undefined,
): Promise<OtherObjects> {
  const objects: KubernetesObject[] = [];
  const forbidden: ForbiddenKind[] = [];
  // Without CRDs, the discovery documents tell which kinds are served.
  const installed = definitions.length > 0 ? definitions.map(readInstalledKind) : await servedAmong(client, knownKinds);
  for (const [kind, type] of otherTypes(installed)) {
    const listed = await listPermitted(client, { kind, type }, namespace);
    if (listed.forbidden !== undefined) forbidden.push(listed.forbidden);
    objects.push(...listed.objects);
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

function otherTypes(kinds: readonly InstalledKind[]): readonly (readonly [SchemaKind, ResourceType])[] {
  return kinds.flatMap((installed): readonly (readonly [SchemaKind, ResourceType])[] => {
    const entry = knownKinds.find(({ group, kind }) => group === installed.group && kind === installed.kind);
    const version = preferredVersion(installed);
    if (
      entry === undefined ||
      version === undefined ||
      !installed.established ||
      !isSchemaKind(entry.kind) ||
      isKindName(entry.kind)
    )
      return [];
    return [[entry.kind, resourceType(entry, version)]];
  });
}

async function readPolicies(client: ApiClient): Promise<ReadonlyMap<string, string>> {
  const policies = new Map<string, string>();
  for await (const { objects } of listPages(
    client,
    { type: admissionPolicies, part: 'metadata' },
    new AbortController().signal,
  )) {
    for (const { metadata } of objects)
      policies.set(metadata.name, textsOf(metadata.annotations)['gateway.networking.k8s.io/bundle-version'] ?? '');
  }
  return policies;
}

/** @returns the message of an API server that forbids the read; an empty map if it does not know the kind */
async function unlessForbidden(
  reading: Promise<ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, string> | string> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return new Map();
    if (isForbidden(error)) return error.message;
    throw error;
  }
}

async function readVersion(client: ApiClient): Promise<string | undefined> {
  const { gitVersion } = recordOf(await unlessMissing(client.request({ path: '/version' })));
  return typeof gitVersion === 'string' ? gitVersion : undefined;
}

async function readStorageMigration(client: ApiClient): Promise<string | undefined> {
  const { version } = recordOf(
    recordOf(await unlessMissing(client.request({ path: '/apis/storagemigration.k8s.io' })))['preferredVersion'],
  );
  return typeof version === 'string' ? version : undefined;
}

async function unlessMissing(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
