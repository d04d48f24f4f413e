import { startsWithHttp2 } from '../graph/backends/app-protocols.ts';
import {
  backendKey,
  backendKinds,
  isService,
  type BackendObject,
  type ServiceObject,
} from '../graph/backends/backend-object.ts';
import { policyInForce } from '../graph/backends/backend-policies.ts';
import { servicePort, type ServicePort, type ServicePortKey } from '../graph/backends/backends.ts';
import { endpoints, hasTooManyEndpoints, maxEndpoints, minEndpointsOfSlice } from '../graph/backends/endpoints.ts';
import { backendCertificate } from '../graph/backend-certificates.ts';
import { clientValidationOf } from '../graph/listeners/gateway-tls.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import { listenerAuthorizers } from '../graph/listeners/listener-filters.ts';
import { servingGateway, type ListenerOwner } from '../graph/listeners/listener-sets.ts';
import { listenersOf, type ListenerNode } from '../graph/listeners/listeners.ts';
import { mayBelongUnobserved } from '../graph/observed.ts';
import { isLayer4, isServedProtocol, servedRouteKinds, terminatesTls } from '../graph/protocols.ts';
import { authoritiesIn, usableTargets } from '../graph/references.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import type { Emitted, Reader } from '../incremental/reader.ts';
import { keyOfRef, qualifiedName } from '../resources/reference.ts';
import { portsInUse } from '../rules/engine/backend-users.ts';
import {
  hasValidListener,
  isConfigured,
  listenerValidity,
  partProblems,
  servesNothing,
} from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { backendTls } from './backend-tls.ts';
import { compileListenerFilters } from './compile-filters.ts';
import { compileLayer4Route } from './compile-layer4-route.ts';
import { compileRoute } from './compile-route.ts';
import type { ConfigResource, EndpointsConfig, ListenerConfig } from './config.ts';
import { endpointsKey } from '../graph/backends/endpoints-key.ts';
import { configuredListener } from './listener-key.ts';
import { retryBudgetOf } from './traffic-policy.ts';
import { xBackendEndpoints, type Destination } from './x-backend.ts';

/**
 * The configuration of all data planes as keyed resources: listeners by owner, routes, and endpoints by port of a Service, ServiceImport or XBackend. A
 * changed object changes only its own resources.
 */
export const configuration = defineEmission<ConfigResource>({
  name: 'configuration',
  stratum: strata.emissions,
  over: objectsOf('Gateway', 'ListenerSet', ...backendKinds, ...servedRouteKinds),
  emit(read, kind = '', namespace = '', name = '') {
    switch (kind) {
      case 'Gateway':
      case 'ListenerSet':
        return keyed(ownListeners(read, { kind, namespace, name }));
      case 'Service':
      case 'ServiceImport':
      case 'XBackend':
        return keyed(backendEndpoints(read, { kind, namespace, name }));
      default:
        return keyed(
          isLayer4(kind) ? compileLayer4Route(read, kind, namespace, name) : compileRoute(read, kind, namespace, name),
        );
    }
  },
});

function* keyed(resources: Iterable<ConfigResource>): Iterable<Emitted<ConfigResource>> {
  for (const resource of resources) yield { key: resource.key, value: resource };
}

function* ownListeners(read: Reader, owner: ListenerOwner): Iterable<ListenerConfig> {
  const { kind, namespace, name } = owner;
  const gateway = servingGateway(read, owner);
  const generation = readObject(read, kind, namespace, name)?.meta.generation;
  if (gateway === undefined || generation === undefined) return;
  // ListenerSets of a Gateway without a valid listener are not accepted (GEP-1713). Its own listeners may keep their hostnames.
  if (kind === 'ListenerSet' && !read.query(hasValidListener, 'Gateway', gateway.namespace, gateway.name)) return;
  const problems = read.query(partProblems, kind, namespace, name);
  if (servesNothing(problems)) return;
  const proof = read.query(backendCertificate, gateway.namespace, gateway.name);
  for (const listener of listenersOf(read, owner)) {
    const { name: listenerName, port } = listener;
    const terms = termsOf(listener);
    const validity = listenerValidity(problems, listener.index);
    if (terms === undefined || !isConfigured(validity)) continue;
    yield {
      kind: 'listener',
      key: configuredListener(gateway, owner, listenerName),
      gateway: qualifiedName(gateway),
      owner: keyOfRef(owner),
      name: listenerName,
      port,
      ...terms,
      ...clientValidation(read, owner, listener),
      ...(proof?.type === 'usable' ? { backendCertificate: proof.target } : {}),
      ...listenerFilters(read, owner, { index: listener.index, failure: validity.failure }),
      generation,
    };
  }
}

function listenerFilters(
  read: Reader,
  { kind, namespace, name }: ListenerOwner,
  { index, failure }: { readonly index: number; readonly failure: PartProblem | undefined },
): Pick<ListenerConfig, 'filters' | 'failure'> {
  if (failure !== undefined) return { failure: failure.message };
  const requests = readObject(read, kind, namespace, name)?.spec?.listeners?.[index]?.filters?.requests ?? [];
  if (requests.length === 0) return {};
  return {
    filters: compileListenerFilters(requests, read.query(listenerAuthorizers, kind, namespace, name)[index] ?? {}),
  };
}

/** Protocol, hostname and TLS settings of a listener; `undefined` if its protocol is unsupported. */
function termsOf(
  listener: ListenerNode,
): Pick<ListenerConfig, 'protocol' | 'tlsMode' | 'hostname' | 'certificates'> | undefined {
  const { protocol, tlsMode, hostname } = listener;
  if (!isServedProtocol(protocol)) return undefined;
  // Without a certificate, no handshake can succeed: ResolvedRefs of the listener reports it, and it keeps its hostname.
  const certificates = terminatesTls(listener) ? usableTargets(listener.certificates) : [];
  return {
    protocol,
    ...(protocol === 'TLS' ? { tlsMode: tlsMode === 'Passthrough' ? tlsMode : 'Terminate' } : {}),
    ...(hostname === undefined ? {} : { hostname }),
    certificates,
  };
}

function clientValidation(
  read: Reader,
  owner: ListenerOwner,
  listener: ListenerNode,
): Pick<ListenerConfig, 'clientValidation'> {
  const validation = clientValidationOf(read, owner, listener);
  if (validation === undefined) return {};
  const mode = validation.mode === 'AllowInsecureFallback' ? validation.mode : 'AllowValidOnly';
  return { clientValidation: { authorities: authoritiesIn(read, validation.authorities), mode } };
}

function* backendEndpoints(read: Reader, backend: BackendObject): Iterable<EndpointsConfig> {
  const ports = read.list(portsInUse, backendKey(backend));
  const destinationOf = destinationsOf(read, backend, ports.length);
  for (const port of ports) {
    const destination = destinationOf(port);
    yield {
      kind: 'endpoints',
      key: endpointsKey(backend, port),
      ...destination,
      ...unobservedEndpoints(read, backend, destination),
    };
  }
}

function destinationsOf(read: Reader, backend: BackendObject, used: number): (port: ServicePortKey) => Destination {
  if (!isService(backend)) return (port) => xBackendEndpoints(read, backend, port);
  if (hasTooManyEndpoints(read, backend, used))
    return () => ({
      addresses: [],
      failure: `all ports of the Service have more than ${maxEndpoints} endpoints, where each EndpointSlice counts as at least ${minEndpointsOfSlice} for each port`,
    });
  return (port) => serviceEndpoints(read, backend, port);
}

function unobservedEndpoints(
  read: Reader,
  { kind, namespace }: BackendObject,
  { addresses, external }: Destination,
): Pick<EndpointsConfig, 'unobserved'> {
  if (addresses.length > 0 || external !== undefined) return {};
  return mayBelongUnobserved(read, 'EndpointSlice', { kind, namespace }, () => kind)
    ? { unobserved: { kind: 'EndpointSlice', namespace } }
    : {};
}

function serviceEndpoints(read: Reader, service: ServiceObject, port: ServicePortKey): Destination {
  const { kind, namespace, name } = service;
  const retryBudget = retryBudgetOf(read, service);
  return {
    addresses: read.query(endpoints, kind, namespace, name, port),
    ...connection(read, service, read.query(servicePort, kind, namespace, name, port)),
    ...(retryBudget === undefined ? {} : { retryBudget }),
  };
}

/** The connection settings for a port of a Service. */
function connection(
  read: Reader,
  backend: ServiceObject,
  port: ServicePort,
): Pick<EndpointsConfig, 'protocol' | 'tls' | 'failure' | 'withheld'> {
  // TLS applies to connections; datagrams are forwarded unchanged.
  if (port.type !== 'port' || port.protocol === 'UDP') return {};
  const policy = policyInForce(read, backend, port.name);
  if (policy !== undefined) return backendTls(read, backend.namespace, policy);
  return port.appProtocol !== undefined && startsWithHttp2(port.appProtocol) ? { protocol: 'h2c' } : {};
}
