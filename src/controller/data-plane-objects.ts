import { ofQualifiedName } from '../core/resources/reference.ts';
import type { Acknowledgement } from '../core/graph/inputs.ts';
import { isReadyEndpoint } from '../core/semantics/endpoints.ts';
import { listOf, recordOf, recordsOf } from '../core/text/record.ts';
import { managedBy } from './data-plane-manifests.ts';
import { clusterServiceName, dataPlaneName } from './names.ts';
import type { WireObject } from './ports.ts';

/** `namespace/name` of the Gateway that a provisioned object belongs to. `undefined` for objects of others. */
export function gatewayOfChild({ metadata }: WireObject): string | undefined {
  if (metadata.labels?.[managedBy.label] !== managedBy.value) return undefined;
  const owner = recordsOf(metadata['ownerReferences']).find(
    (one) => one['kind'] === 'Gateway' && one['controller'] === true,
  );
  const name = owner?.['name'];
  return typeof name === 'string' ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

/** The Gateway of a Service, only for Services that were provisioned: copies of them with another name do not count. */
export function gatewayOfService(service: WireObject): string | undefined {
  const gateway = gatewayOfChild(service);
  return gateway !== undefined && serviceNames(gateway).includes(service.metadata.name) ? gateway : undefined;
}

/** The names of the Services that a Gateway (`namespace/name`) may have. */
export function serviceNames(gateway: string): readonly string[] {
  const { name } = ofQualifiedName(gateway);
  return [dataPlaneName(name), clusterServiceName(name)];
}

/** Whether a Service of a Gateway is the one for entries of spec.addresses with a routability. */
export function isClusterService({ kind, metadata }: WireObject, gateway: string): boolean {
  // The items of lists have no kind, and only Services are read from lists.
  const isService = kind === undefined || kind === 'Service';
  return isService && metadata.name === clusterServiceName(ofQualifiedName(gateway).name);
}

const maxAddresses = 16;

/**
 * The addresses of a Service, limited to the number that a Gateway's status can hold: those that a load balancer assigned
 * (Service.status.loadBalancer.ingress), or the cluster IPs if the type needs no load balancer.
 */
export function addressesOfService(service: WireObject): Acknowledgement['addresses'] {
  const { type, clusterIPs } = recordOf(service['spec']);
  if (type === 'ClusterIP' || type === 'NodePort') {
    return listOf(clusterIPs).flatMap((value) =>
      typeof value === 'string' && value !== '' && value !== 'None'
        ? [{ type: 'IPAddress', value, routability: 'Cluster' as const }]
        : [],
    );
  }
  const { ingress } = recordOf(recordOf(service['status'])['loadBalancer']);
  return recordsOf(ingress)
    .flatMap(({ ip, hostname }) => {
      if (typeof ip === 'string' && ip !== '') return [{ type: 'IPAddress', value: ip }];
      return typeof hostname === 'string' && hostname !== '' ? [{ type: 'Hostname', value: hostname }] : [];
    })
    .slice(0, maxAddresses);
}

/** The ready pods of an EndpointSlice. An endpoint with unknown readiness counts as ready. */
export function readyPods(slice: WireObject): readonly string[] {
  return recordsOf(slice['endpoints']).flatMap(({ conditions, addresses, targetRef }) => {
    const { kind, name } = recordOf(targetRef);
    return isReadyEndpoint(recordOf(conditions)) &&
      listOf(addresses).length > 0 &&
      kind === 'Pod' &&
      typeof name === 'string'
      ? [name]
      : [];
  });
}

/** The generation of a Gateway or ListenerSet whose status has Programmed=True. `undefined` without that condition. */
export function programmedGeneration(owner: WireObject | undefined): number | undefined {
  const conditions = recordsOf(recordOf(owner?.['status'])['conditions']);
  const generation = conditions.find(({ type, status }) => type === 'Programmed' && status === 'True')?.[
    'observedGeneration'
  ];
  // A generation above the object's own is a leftover, for example of a restored backup.
  return typeof generation === 'number' && generation <= (owner?.metadata.generation ?? 0) ? generation : undefined;
}
