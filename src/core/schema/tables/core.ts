import { boolean, intOrString, integer, list, map, object, string, type ObjectNode } from '../node.ts';
import { certificatesGroup, served, stored, type KindTable } from './table.ts';

// The kinds of Kubernetes itself that Gateway API objects refer to. They are only read, so these tables contain only the fields
// that we use, without bounds: the API server has already validated them.

function coreTable<B extends ObjectNode>(table: Omit<KindTable<B>, 'group' | 'versions'>): KindTable<B> {
  return { group: '', versions: [{ name: 'v1', served: true, storage: true }], ...table };
}

export const service = coreTable({
  kind: 'Service',
  plural: 'services',
  namespaced: true,
  body: object({
    spec: object({
      type: string(),
      clusterIP: string(),
      externalName: string(),
      ports: list(
        object({
          name: string(),
          port: integer(),
          targetPort: intOrString(),
          protocol: string(),
          appProtocol: string(),
        }),
      ),
      selector: map(string()),
      sessionAffinity: string(),
    }),
  }),
});

const endpointSliceBody = object({
  addressType: string(),
  endpoints: list(
    object({
      addresses: list(string()),
      conditions: object({ ready: boolean(), serving: boolean(), terminating: boolean() }),
      nodeName: string(),
      zone: string(),
    }),
  ),
  ports: list(object({ name: string(), port: integer(), protocol: string(), appProtocol: string() })),
});

export const endpointSlice: KindTable<typeof endpointSliceBody> = {
  ...coreTable({ kind: 'EndpointSlice', plural: 'endpointslices', namespaced: true, body: endpointSliceBody }),
  group: 'discovery.k8s.io',
};

export const namespace = coreTable({
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
  body: object({}),
});

export const secret = coreTable({
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  body: object({ type: string(), data: map(string({ format: 'byte' })) }),
});

export const configMap = coreTable({
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
  body: object({ data: map(string()) }),
});

const clusterTrustBundleBody = object({ spec: object({ trustBundle: string() }) });

export const clusterTrustBundle: KindTable<typeof clusterTrustBundleBody> = {
  group: certificatesGroup,
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  namespaced: false,
  versions: [stored('v1'), served('v1beta1'), served('v1alpha1')],
  body: clusterTrustBundleBody,
};
