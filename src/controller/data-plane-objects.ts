import type { Acknowledgement } from '../core/graph/inputs.ts';
import { isRecord, listOf, recordOf } from '../core/text/record.ts';
import { managedBy } from './data-plane-manifests.ts';
import { dataPlaneName } from './names.ts';
import type { WireObject } from './ports.ts';

/** `namespace/name` of the Gateway that a provisioned object belongs to; nothing for objects of others. */
export function gatewayOfChild({ metadata }: WireObject): string | undefined {
  if (metadata.labels?.[managedBy.label] !== managedBy.value) return undefined;
  const owner = listOf(metadata['ownerReferences']).filter(isRecord).find((one) => one['kind'] === 'Gateway' && one['controller'] === true);
  const name = owner?.['name'];
  return typeof name === 'string' ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

/** The same for the one Service that leads to the data planes of a Gateway: somebody may have made copies of it. */
export function gatewayOfService(service: WireObject): string | undefined {
  const gateway = gatewayOfChild(service);
  return gateway !== undefined && service.metadata.name === dataPlaneName(gateway.split('/')[1] ?? '') ? gateway : undefined;
}

const mostAddresses = 16;

/**
 * The addresses at which a Service is reached, as many as a Gateway's status may hold: those that a load balancer gave
 * (Service.status.loadBalancer.ingress), and where none is asked for, those inside of the cluster.
 */
export function addressesOfService(service: WireObject): Acknowledgement['addresses'] {
  const { type, clusterIPs } = recordOf(service['spec']);
  if (type === 'ClusterIP' || type === 'NodePort') {
    return listOf(clusterIPs).flatMap((value) => (typeof value === 'string' && value !== '' && value !== 'None' ? [{ type: 'IPAddress', value }] : []));
  }
  const { ingress } = recordOf(recordOf(service['status'])['loadBalancer']);
  return listOf(ingress).filter(isRecord).flatMap(({ ip, hostname }) => {
    if (typeof ip === 'string' && ip !== '') return [{ type: 'IPAddress', value: ip }];
    return typeof hostname === 'string' && hostname !== '' ? [{ type: 'Hostname', value: hostname }] : [];
  }).slice(0, mostAddresses);
}

/** The pods behind a Service that are ready for traffic (EndpointSlice): where it is not known they count as ready. */
export function readyPods(slice: WireObject): readonly string[] {
  return listOf(slice['endpoints']).filter(isRecord).flatMap(({ conditions, addresses, targetRef }) => {
    const { kind, name } = recordOf(targetRef);
    return recordOf(conditions)['ready'] !== false && listOf(addresses).length > 0 && kind === 'Pod' && typeof name === 'string' ? [name] : [];
  });
}

/** The generation of a Gateway or ListenerSet that its status calls programmed; nothing where it does not. */
export function programmedGeneration(owner: WireObject | undefined): number | undefined {
  const conditions = listOf(recordOf(owner?.['status'])['conditions']).filter(isRecord);
  const generation = conditions.find(({ type, status }) => type === 'Programmed' && status === 'True')?.['observedGeneration'];
  // Beyond the object's own generation it is a leftover, for example of a restored backup.
  return typeof generation === 'number' && generation <= (owner?.metadata.generation ?? 0) ? generation : undefined;
}
