import { isReadyEndpoint } from '../../core/semantics/endpoints.ts';
import { listOf, recordOf } from '../../core/text/record.ts';
import { listPages, type ApiClient, type ResourceType, type Selection } from '../../kubernetes/index.ts';

const endpointSlices: ResourceType = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** Selects the EndpointSlices of a Service. */
export function slicesOf({ namespace, name }: ServiceName): Selection {
  return { type: endpointSlices, namespace, labelSelector: `kubernetes.io/service-name=${name}` };
}

/**
 * Counts the ready endpoints of a Service. Reads its EndpointSlices page by page, because they may have any number of endpoints.
 *
 * @throws as `listPages` does
 */
export async function readReadyEndpoints(client: ApiClient, service: ServiceName): Promise<number> {
  let ready = 0;
  for await (const { objects, restarted } of listPages(client, slicesOf(service), new AbortController().signal))
    ready = (restarted ? 0 : ready) + countReady(objects);
  return ready;
}

/** Counts the ready endpoints of these EndpointSlices. Accepts any JSON. */
export function countReady(slices: readonly unknown[]): number {
  const endpoints = slices.flatMap((slice) => listOf(recordOf(slice)['endpoints']));
  return endpoints.filter((endpoint) => isReadyEndpoint(recordOf(recordOf(endpoint)['conditions']))).length;
}
