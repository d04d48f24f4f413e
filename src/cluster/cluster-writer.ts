import type { ClusterWriter, WireObject, WriteResult } from '../controller/index.ts';
import { isKindName, tables } from '../core/schema/index.ts';
import {
  applyForced,
  get,
  mergePatch,
  remove,
  resourceType,
  updateStatus,
  type ApiClient,
  type ResourceType,
  type Writer,
} from '../kubernetes/index.ts';
import { splitApiVersion } from '../core/text/api-version.ts';

/** Kinds of provisioned objects. */
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

/**
 * Creates the writer of the controller for a cluster.
 *
 * @param term the signal of the leader's term; aborting it aborts writes in flight, so that no write is sent after the term
 */
export function clusterWriter(client: ApiClient, term: () => AbortSignal | undefined = () => undefined): ClusterWriter {
  const within = (): { readonly signal?: AbortSignal } => {
    const signal = term();
    return signal === undefined ? {} : { signal };
  };
  const write = async (object: WireObject, act: (writer: Writer) => Promise<WriteResult>): Promise<WriteResult> => {
    const type = provisioned[object.kind ?? ''];
    return type === undefined ? unknownKind(object.kind) : act({ client, type });
  };
  return {
    read: (object) => write(object, (writer) => get(writer, object.metadata, within())),
    async updateStatus(kind, object) {
      const type = evaluated(kind, object);
      return type === undefined
        ? unknownKind(kind)
        : updateStatus({ client, type }, object, { ...within(), fieldManager });
    },
    async setFinalizers(kind, object) {
      const { name, resourceVersion, finalizers } = object.metadata;
      const type = evaluated(kind, object);
      return type === undefined
        ? unknownKind(kind)
        : mergePatch(
            { client, type },
            { name },
            { metadata: { resourceVersion, finalizers } },
            { ...within(), fieldManager },
          );
    },
    apply: (object) => write(object, (writer) => applyForced(writer, object, { ...within(), fieldManager })),
    remove(object) {
      const { uid } = object.metadata;
      return write(object, (writer) =>
        remove(writer, object.metadata, {
          ...within(),
          propagationPolicy: 'Background',
          ...(uid !== undefined && { uid }),
        }),
      );
    },
  };
}

function evaluated(kind: string, { apiVersion = 'v1' }: WireObject): ResourceType | undefined {
  return isKindName(kind) ? resourceType(tables[kind], splitApiVersion(apiVersion).version) : undefined;
}

function unknownKind(kind = ''): WriteResult {
  return { type: 'invalid', message: `unsupported kind ${kind}` };
}
