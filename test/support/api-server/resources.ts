import { isJson, record, textOf, type Json } from './object.ts';
import { resourceKey, type Resource, type Store } from './store.ts';

const core = { group: '', versions: ['v1'], namespaced: true, hasStatus: false };

const builtIn: readonly Resource[] = [
  { ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false, hasStatus: true },
  { ...core, kind: 'ConfigMap', plural: 'configmaps' },
  { ...core, kind: 'Secret', plural: 'secrets' },
  { ...core, kind: 'Service', plural: 'services', hasStatus: true },
  { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' },
  { ...core, group: 'apps', kind: 'Deployment', plural: 'deployments', hasStatus: true },
  { ...core, kind: 'Pod', plural: 'pods', hasStatus: true },
  { ...core, group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', hasStatus: true },
  { ...core, group: 'discovery.k8s.io', kind: 'EndpointSlice', plural: 'endpointslices' },
  { ...core, group: 'coordination.k8s.io', kind: 'Lease', plural: 'leases' },
  { ...core, group: 'events.k8s.io', kind: 'Event', plural: 'events' },
  {
    ...core,
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    namespaced: false,
  },
  {
    ...core,
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    namespaced: false,
  },
  {
    ...core,
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
    hasStatus: true,
  },
];

export const definitionsKey = 'customresourcedefinitions.apiextensions.k8s.io';

/** The resource that is served at a path's group, version and plural at present. */
export function findResource(
  store: Store,
  { group, version, plural }: { group: string; version: string; plural: string },
): Resource | undefined {
  const fixed = [...builtIn, ...store.optional].find(
    (resource) => resource.group === group && resource.plural === plural,
  );
  const definition = store.get(definitionsKey, '', resourceKey({ group, plural }));
  const resource = fixed ?? (definition === undefined ? undefined : defined(definition));
  return resource?.versions.includes(version) === true ? resource : undefined;
}

/** An optional resource of Kubernetes itself, in some versions. */
export function clusterTrustBundles(...versions: readonly string[]): Resource {
  return {
    ...core,
    group: 'certificates.k8s.io',
    kind: 'ClusterTrustBundle',
    plural: 'clustertrustbundles',
    namespaced: false,
    versions,
  };
}

/** The discovery document of a group, or of one of its versions. `undefined` if nothing of it is served. */
export function discoveryDocument(store: Store, group: string, version: string): Json | undefined {
  const custom = store.list(definitionsKey).map(defined);
  const resources = [...builtIn, ...store.optional, ...custom].filter((resource) => resource.group === group);
  const versions = [...new Set(resources.flatMap((resource) => resource.versions))];
  if (version === '')
    return versions.length === 0
      ? undefined
      : {
          kind: 'APIGroup',
          apiVersion: 'v1',
          name: group,
          versions: versions.map((name) => ({ groupVersion: `${group}/${name}`, version: name })),
        };
  const served = resources.filter((resource) => resource.versions.includes(version));
  return served.length === 0
    ? undefined
    : {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: `${group}/${version}`,
        resources: served.map(({ plural: name, kind, namespaced }) => ({ name, kind, namespaced, verbs: ['list'] })),
      };
}

/** The resource that a CustomResourceDefinition defines. */
export function defined(definition: Json): Resource {
  const spec = record(definition['spec']);
  const names = record(spec['names']);
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isJson) : [];
  return {
    group: textOf(spec['group']),
    kind: textOf(names['kind']),
    plural: textOf(names['plural']),
    namespaced: spec['scope'] === 'Namespaced',
    versions: versions.filter((version) => version['served'] === true).map((version) => textOf(version['name'])),
    hasStatus: versions.some((version) => record(version['subresources'])['status'] !== undefined),
  };
}

/** What the API server adds to a definition that it took. */
export function establishedStatus(definition: Json): Json {
  const spec = record(definition['spec']);
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isJson) : [];
  return {
    conditions: [
      { type: 'NamesAccepted', status: 'True' },
      { type: 'Established', status: 'True' },
    ],
    acceptedNames: spec['names'],
    storedVersions: versions.filter((version) => version['storage'] === true).map((version) => version['name']),
  };
}
