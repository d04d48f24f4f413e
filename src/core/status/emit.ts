import { backendPolicyKinds } from '../graph/backends/backend-policies.ts';
import { objectsOf } from '../graph/inputs.ts';
import { servedRouteKinds } from '../graph/protocols.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewayClassStatus, type GatewayClassStatus } from './gateway-class.ts';
import { gatewayStatus, type GatewayStatus } from './gateway.ts';
import { listenerSetStatus, type ListenerSetStatus } from './listener-set.ts';
import { policyStatus, type PolicyStatus } from './policy.ts';
import { routeStatus, type RouteStatus } from './route.ts';
import { telemetryPolicyStatus } from './telemetry-policy.ts';
import { xBackendStatus } from './x-backend.ts';
import { keyOfRef } from '../resources/reference.ts';

/** The part of an object's status that Sallyport owns, without times. */
export type OwnStatus = GatewayClassStatus | GatewayStatus | ListenerSetStatus | PolicyStatus | RouteStatus;

/** One value per object with a status of Sallyport. Key: `kind/namespace/name`. */
export const statuses = defineEmission<OwnStatus>({
  name: 'statuses',
  stratum: strata.emissions,
  over: objectsOf(
    'GatewayClass',
    'Gateway',
    'ListenerSet',
    ...backendPolicyKinds,
    'XBackend',
    'XTelemetryPolicy',
    ...servedRouteKinds,
  ),
  emit(read, kind = '', namespace = '', name = '') {
    const value = statusOf(read, kind, namespace, name);
    return value === undefined ? [] : [{ key: keyOfRef({ kind, namespace, name }), value }];
  },
});

function statusOf(read: Reader, kind: string, namespace: string, name: string): OwnStatus | undefined {
  switch (kind) {
    case 'GatewayClass':
      return gatewayClassStatus(read, name);
    case 'Gateway':
      return gatewayStatus(read, namespace, name);
    case 'BackendTLSPolicy':
    case 'XBackendTrafficPolicy':
      return policyStatus(read, kind, namespace, name);
    case 'XBackend':
      return xBackendStatus(read, namespace, name);
    case 'XTelemetryPolicy':
      return telemetryPolicyStatus(read, namespace, name);
    case 'ListenerSet':
      return listenerSetStatus(read, namespace, name);
    default:
      return routeStatus(read, kind, namespace, name);
  }
}
