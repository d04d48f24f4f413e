import type { Acknowledgement } from '../core/graph/inputs.ts';
import { isRecord, listOf, recordOf } from './json.ts';
import type { WireObject } from './ports.ts';
import { managedBy } from './provision.ts';

/** `namespace/name` of the Gateway that a provisioned object belongs to; nothing for objects of others. */
export function gatewayOfChild({ metadata }: WireObject): string | undefined {
  if (metadata.labels?.[managedBy.label] !== managedBy.value) return undefined;
  const owner = listOf(metadata['ownerReferences']).filter(isRecord).find((one) => one['kind'] === 'Gateway' && one['controller'] === true);
  const name = owner?.['name'];
  return typeof name === 'string' ? `${metadata.namespace ?? ''}/${name}` : undefined;
}

/** The addresses that a load balancer gave to a Service (Service.status.loadBalancer.ingress). */
export function addressesOfService(service: WireObject): Acknowledgement['addresses'] {
  const { ingress } = recordOf(recordOf(service['status'])['loadBalancer']);
  return listOf(ingress).filter(isRecord).flatMap(({ ip, hostname }) => {
    if (typeof ip === 'string' && ip !== '') return [{ type: 'IPAddress', value: ip }];
    return typeof hostname === 'string' && hostname !== '' ? [{ type: 'Hostname', value: hostname }] : [];
  });
}

/** Whether somebody behind a Service is ready for traffic (EndpointSlice): what is not known counts as ready. */
export function hasReadyEndpoint(slice: WireObject): boolean {
  return listOf(slice['endpoints']).filter(isRecord).some((endpoint) => recordOf(endpoint['conditions'])['ready'] !== false && listOf(endpoint['addresses']).length > 0);
}

/** The generation of a Gateway that its status calls programmed; nothing where it does not. */
export function programmedGeneration(gateway: WireObject | undefined): number | undefined {
  const conditions = listOf(recordOf(gateway?.['status'])['conditions']).filter(isRecord);
  const generation = conditions.find(({ type, status }) => type === 'Programmed' && status === 'True')?.['observedGeneration'];
  return typeof generation === 'number' ? generation : undefined;
}
