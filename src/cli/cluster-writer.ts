import type { ClusterWriter, WireObject, WriteResult } from '../controller/index.ts';
import { isKindName, tables } from '../core/schema/index.ts';
import { applyForced, remove, resourceType, updateStatus, type ApiClient, type ResourceType, type Writer } from '../kubernetes/index.ts';

/** Kinds of the objects of a data plane. */
const provisioned: Readonly<Record<string, ResourceType>> = Object.fromEntries(
  [
    { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
    { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
    { apiVersion: 'v1', kind: 'Service', plural: 'services' },
    { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
  ].map((type) => [type.kind, { ...type, namespaced: true }]),
);

const fieldManager = 'sallyport-controller';

/** The controller's writes, to a cluster. */
export function clusterWriter(client: ApiClient): ClusterWriter {
  const write = async (object: WireObject, act: (writer: Writer) => Promise<WriteResult>): Promise<WriteResult> => {
    const type = provisioned[object.kind ?? ''];
    return type === undefined ? unknownKind(object.kind) : act({ client, type });
  };
  return {
    async updateStatus(kind, object) {
      if (!isKindName(kind)) return unknownKind(kind);
      const version = object.apiVersion?.split('/').at(-1) ?? 'v1';
      return updateStatus({ client, type: resourceType(tables[kind], version) }, object, { fieldManager });
    },
    apply: (object) => write(object, (writer) => applyForced(writer, object, { fieldManager })),
    remove: (object) => write(object, (writer) => remove(writer, object.metadata, { propagationPolicy: 'Background' })),
  };
}

function unknownKind(kind = ''): WriteResult {
  return { type: 'invalid', message: `no object of kind ${kind} is ever written` };
}
