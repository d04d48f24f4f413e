import { X509Certificate } from 'node:crypto';
import { authorityFacts, certificateFacts, trustBundleFacts } from '../../certificates/index.ts';
import { isService } from '../../core/graph/backends/backend-object.ts';
import type { CertificateFacts } from '../../core/graph/inputs.ts';
import { validatingKinds } from '../../core/graph/backends/backend-validation.ts';
import { isTrustBundle } from '../../core/graph/references.ts';
import { storedObject, type StoredObject } from '../../core/preflight/target.ts';
import { describeRef, keyOfRef, qualifiedName, refOfKey } from '../../core/resources/reference.ts';
import { tables } from '../../core/schema/index.ts';
import { destinationsOf, endpointsOf, type ConfigResource } from '../../core/routing/config.ts';
import { configuration } from '../../core/routing/emit.ts';
import { ofEndpointsKey } from '../../core/graph/backends/endpoints-key.ts';
import { isRecord, recordOf, recordsOf } from '../../core/text/record.ts';
import {
  isForbidden,
  isNotFound,
  pathOf,
  type ApiClient,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/index.ts';
import { readClusterObjects, type ForbiddenKind } from '../../sources/cluster-objects.ts';
import { clusterDocument } from '../../sources/objects.ts';
import { today } from '../../webhook/today.ts';
import { Workspace, type ConfiguredJudging } from '../../workspace/workspace.ts';
import { readDataPlanePods, readDeploymentProblems, readPods, readReports } from '../live/data-planes.ts';
import { settingsFrom } from '../live/webhook-settings.ts';
import { controllerName } from '../names.ts';
import { policyOf } from '../settings.ts';
import { isUsageError } from '../usage-error.ts';
import {
  optionalKinds,
  type CertificateUse,
  type ControllerFacts,
  type DataPlaneKind,
  type Gathered,
  type IdleService,
  type Installation,
  type LeaseFacts,
  type OptionalKind,
  type ServedObjects,
  type UnknownSettings,
} from './facts.ts';
import { gather, readAuthorityFacts } from './gathered.ts';
import { parentOf } from './stored-objects.ts';
import { secretKind } from '../../core/semantics/intended.ts';

const leases: ResourceType = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** Reads the facts about the controller and what it serves. Never rejects: a failed read is a fact too. */
export async function gatherControllerFacts(client: ApiClient, installation: Installation): Promise<ControllerFacts> {
  const { namespace, controllerSecret } = installation;
  const [lease, pods, authorities, listedPods, listedProblems, reports, objects] = await Promise.all([
    gather(readLease(client, installation)),
    gather(readPods(client, { namespace, labelSelector: 'app.kubernetes.io/component=controller' })),
    gather(readAuthorityFacts(client, { namespace, secret: controllerSecret })),
    gather(readPermitted('Pod', namespace, (place) => readDataPlanePods(client, place))),
    gather(readPermitted('Deployment', namespace, (place) => readDeploymentProblems(client, place))),
    gather(readReports(client, namespace)),
    gather(readServedObjects(client, namespace)),
  ]);
  return {
    lease,
    pods,
    authorities,
    dataPlanePods: listedOf(listedPods),
    deploymentProblems: listedOf(listedProblems),
    partlyListed: [...forbiddenOf(listedPods), ...forbiddenOf(listedProblems)],
    reports,
    objects,
  };
}

/** A list of all namespaces, or of one if `forbidden` is set. */
interface Permitted<T> {
  readonly list: T;
  readonly forbidden?: ForbiddenKind<DataPlaneKind>;
}

/** Reads a list of all namespaces, or of `namespace` if the credentials do not suffice for all. @throws errors of `read` */
async function readPermitted<T>(
  kind: DataPlaneKind,
  namespace: string,
  read: (namespace?: string) => Promise<T>,
): Promise<Permitted<T>> {
  try {
    return { list: await read() };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    try {
      return { list: await read(namespace), forbidden: { kind, message: error.message, namespace } };
    } catch (inNamespace) {
      throw isForbidden(inNamespace) ? error : inNamespace;
    }
  }
}

function listedOf<T>(listed: Gathered<Permitted<T>>): Gathered<T> {
  return listed.type === 'known' ? { type: 'known', value: listed.value.list } : listed;
}

function forbiddenOf(listed: Gathered<Permitted<unknown>>): ControllerFacts['partlyListed'] {
  return listed.type === 'unknown' || listed.value.forbidden === undefined ? [] : [listed.value.forbidden];
}

async function readLease(
  client: ApiClient,
  { namespace, controllerLease: name }: Installation,
): Promise<LeaseFacts | undefined> {
  try {
    const { spec } = recordOf(await client.request({ path: pathOf(leases, { namespace, name }) }));
    const { holderIdentity, renewTime, leaseDurationSeconds } = recordOf(spec);
    return {
      holder: typeof holderIdentity === 'string' ? holderIdentity : '',
      renewed: typeof renewTime === 'string' ? Date.parse(renewTime) : 0,
      duration: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : 0,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The settings by which the controller routes requests, or why they are unknown. Neither if there are none. */
interface Configured {
  readonly configured?: ConfiguredJudging;
  readonly unknown?: UnknownSettings;
}

async function readConfigured(client: ApiClient, namespace: string): Promise<Configured> {
  try {
    const found = await settingsFrom(client, namespace);
    switch (found.type) {
      case 'settings':
        return { configured: { settings: found.settings, today: today() } };
      case 'forbidden':
        return { unknown: { type: 'unread', problem: found.message } };
      case 'absent':
        return {};
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { unknown: { type: isUsageError(error) ? 'invalid' : 'unread', problem } };
  }
}

async function readServedObjects(client: ApiClient, namespace: string): Promise<ServedObjects> {
  const { objects, installation, bundle, forbidden } = await readClusterObjects(client, controllerName, namespace);
  const { configured, unknown } = await readConfigured(client, namespace);
  const workspace = new Workspace(installation, policyOf('standard', bundle), [configuration], configured);
  workspace.update(objects.map(clusterDocument));
  const stored = objects.flatMap(storedObject);
  const classes = stored.filter(
    ({ kind, json }) => kind === 'GatewayClass' && specOf(json)['controllerName'] === controllerName,
  );
  const names = new Set(classes.map(({ ref }) => ref.name));
  const gateways = stored.filter(
    ({ kind, json }) => kind === 'Gateway' && names.has(textOf(specOf(json)['gatewayClassName'], '')),
  );
  const listenerSets = listenerSetsOf(gateways, stored);
  const validating = stored.filter(({ kind }) => validatingKinds.some((one) => one === kind));
  return {
    unobserved: forbidden,
    settings: unknown,
    unserved: optionalKinds
      .filter((kind) => installation.notInstalled?.includes(kind) === true)
      .map((kind) => ({ kind, users: usersOfKind(kind, stored) })),
    stored,
    classes,
    gateways,
    listenerSets,
    certificates: certificatesOf([...gateways, ...listenerSets, ...validating], objects),
    // Without the settings, it is unknown which routes are attached.
    idle:
      unknown !== undefined || forbidden.some(({ kind }) => kind === 'EndpointSlice')
        ? []
        : idleServices([...workspace.kernel.emitted(configuration).values()]),
  };
}

function listenerSetsOf(gateways: readonly StoredObject[], stored: readonly StoredObject[]): readonly StoredObject[] {
  const names = new Set(gateways.map(({ ref }) => qualifiedName(ref)));
  return stored.filter((object) => object.kind === 'ListenerSet' && names.has(parentOf(object)));
}

function certificatesOf(
  users: readonly StoredObject[],
  objects: readonly KubernetesObject[],
): readonly CertificateUse[] {
  const sources = new Map(
    objects
      .filter(({ kind = '' }) => ['Secret', 'ConfigMap', 'ClusterTrustBundle'].includes(kind))
      .map((object) => {
        const { kind = '', metadata } = object;
        return [keyOfRef({ kind, namespace: metadata.namespace ?? '', name: metadata.name }), object];
      }),
  );
  return users.flatMap(({ ref, json }) =>
    [...new Set(referencesIn(specOf(json), ref.namespace))].flatMap((source) => {
      const object = sources.get(source);
      if (object === undefined) return [];
      const facts = object.kind === 'Secret' ? certificateFacts(object) : latestAuthority(object);
      return facts === undefined ? [] : [{ user: describeRef(ref), source: refOfKey(source), facts }];
    }),
  );
}

const deepest = 20;
const referenceFields: ReadonlySet<string> = new Set(['certificateRefs', 'caCertificateRefs', 'clientCertificateRef']);

/** The keys of objects with certificates that a specification references anywhere. */
function referencesIn(json: unknown, namespace: string, depth = 0): readonly string[] {
  if (depth > deepest) return [];
  if (Array.isArray(json)) return json.flatMap((item) => referencesIn(item, namespace, depth + 1));
  if (!isRecord(json)) return [];
  return Object.entries(json).flatMap(([field, value]) => {
    if (!referenceFields.has(field)) return referencesIn(value, namespace, depth + 1);
    return recordsOf(Array.isArray(value) ? value : [value]).map((reference) => {
      const kind = textOf(reference['kind'], secretKind({}));
      const place = isTrustBundle(reference) ? '' : textOf(reference['namespace'], namespace);
      return keyOfRef({ kind, namespace: place, name: textOf(reference['name'], '') });
    });
  });
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** The objects with a reference to a kind anywhere in their specification. */
function usersOfKind(kind: OptionalKind, stored: readonly StoredObject[]): readonly string[] {
  return stored.filter(({ json }) => namesKind(kind, specOf(json))).map(({ ref }) => describeRef(ref));
}

function namesKind(kind: OptionalKind, json: unknown, depth = 0): boolean {
  if (depth > deepest) return false;
  if (Array.isArray(json)) return json.some((item) => namesKind(kind, item, depth + 1));
  if (!isRecord(json)) return false;
  if (json['kind'] === kind && json['group'] === tables[kind].group) return true;
  return Object.values(json).some((value) => namesKind(kind, value, depth + 1));
}

/** The validity of the authority that expires last: others may be on their way out. */
function latestAuthority(source: KubernetesObject): CertificateFacts | undefined {
  const facts = source.kind === 'ConfigMap' ? authorityFacts(source) : trustBundleFacts(source);
  if (facts.type === 'unusable') return facts;
  const [latest] = facts.certificates
    .map((pem) => new X509Certificate(pem))
    .toSorted((one, other) => other.validToDate.getTime() - one.validToDate.getTime());
  return (
    latest && {
      type: 'certificate',
      notBefore: latest.validFromDate.toISOString(),
      notAfter: latest.validToDate.toISOString(),
    }
  );
}

/** Services without endpoints to which a route that is attached, or a filter of a listener, sends requests. */
function idleServices(resources: readonly ConfigResource[]): readonly IdleService[] {
  const idle = new Set(
    resources
      .filter((resource) => resource.kind === 'endpoints')
      .filter((resource) => destinationsOf(resource).length === 0 && resource.failure === undefined)
      .map(({ key }) => key),
  );
  const uses = resources.flatMap((resource) => {
    if (resource.kind === 'endpoints' || ('attachments' in resource && resource.attachments.length === 0)) return [];
    return [...new Set(endpointsOf(resource))]
      .filter((key) => idle.has(key))
      .map((key) => ({ key, user: userOf(resource) }));
  });
  return [...Map.groupBy(uses, ({ key }) => key)].flatMap(([key, some]) => {
    const { backend, port } = ofEndpointsKey(key);
    return isService(backend) ? [{ ...backend, port, users: some.map(({ user }) => user) }] : [];
  });
}

function userOf(resource: Exclude<ConfigResource, { kind: 'endpoints' }>): string {
  switch (resource.kind) {
    case 'listener':
      return `listener ${resource.name} of ${resource.owner.replace('/', ' ')}`;
    case 'layer4Route':
      return `${resource.routeKind} ${resource.route}`;
    case 'route':
      return `${resource.protocol === 'grpc' ? 'GRPCRoute' : 'HTTPRoute'} ${resource.route}`;
  }
}

function specOf(json: StoredObject['json']): Readonly<Record<string, unknown>> {
  return recordOf(json['spec']);
}
