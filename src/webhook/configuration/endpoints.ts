import { isReadyEndpoint } from '../../core/semantics/endpoints.ts';
import { listOf, recordOf } from '../../core/text/record.ts';
import { pathOf, type ApiRequest, type ResourceType } from '../../kubernetes/index.ts';

export const endpointSlices: ResourceType = {
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
export function slicesOf(service: string): string {
  return `kubernetes.io/service-name=${service}`;
}

/** Builds the request for the EndpointSlices of a Service. */
export function endpointSlicesOf({ namespace, name }: ServiceName): ApiRequest {
  return {
    path: pathOf(endpointSlices, { namespace }),
    query: { labelSelector: slicesOf(name) },
  };
}

/** Counts the ready endpoints of these EndpointSlices. Accepts any JSON. */
export function countReady(slices: unknown): number {
  const { items } = recordOf(slices);
  const endpoints = listOf(items).flatMap((slice) => listOf(recordOf(slice)['endpoints']));
  return endpoints.filter((endpoint) => isReadyEndpoint(recordOf(recordOf(endpoint)['conditions']))).length;
}
