import { startsWithHttp2 } from '../graph/app-protocols.ts';
import { policyInForce } from '../graph/backend-policies.ts';
import { endpoints, servicePort, type ServicePort } from '../graph/backends.ts';
import { ownerKey } from '../graph/gateway-listeners.ts';
import { authoritiesIn, backendCertificate, clientValidationOf } from '../graph/gateway-tls.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import { servingGateway, type ListenerOwner } from '../graph/listener-sets.ts';
import { listenersOf, type ListenerNode } from '../graph/listeners.ts';
import { servedRouteKinds, terminatesTls } from '../graph/protocols.ts';
import { usableTargets } from '../graph/references.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import type { Emitted, Reader } from '../incremental/reader.ts';
import { hasValidListener, isValid, listenerValidity, partProblems, portsInUse, servesNothing } from '../rules/engine/validity.ts';
import { endpointsKey } from './backend-target.ts';
import { backendTls } from './backend-tls.ts';
import { compileRoute } from './compile-route.ts';
import type { ConfigResource, EndpointsConfig, ListenerConfig } from './config.ts';
import { configuredListener } from './listener-key.ts';

/**
 * The configuration of all data planes as keyed resources: listeners by their owner, routes, endpoints by Service port.
 * One changed object changes its own resources only.
 */
export const configuration = defineEmission<ConfigResource>({
  name: 'configuration',
  stratum: strata.emissions,
  over: objectsOf('Gateway', 'ListenerSet', 'Service', ...servedRouteKinds),
  emit(read, kind = '', namespace = '', name = '') {
    switch (kind) {
      case 'Gateway':
      case 'ListenerSet':
        return keyed(ownListeners(read, { kind, namespace, name }));
      case 'Service':
        return keyed(serviceEndpoints(read, namespace, name));
      default:
        return keyed(compileRoute(read, kind, namespace, name));
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
  if (gateway === undefined || generation === undefined || !read.query(hasValidListener, 'Gateway', gateway.namespace, gateway.name)) return;
  const problems = read.query(partProblems, kind, namespace, name);
  if (servesNothing(problems)) return;
  const proof = read.query(backendCertificate, gateway.namespace, gateway.name);
  for (const listener of listenersOf(read, owner)) {
    if (!isValid(listenerValidity(problems, listener.index))) continue;
    const tls = terminatesTls(listener.protocol);
    const certificates = usableTargets(listener.certificates);
    // Without a certificate no handshake could succeed; the listener says so in ResolvedRefs.
    if (tls && certificates.length === 0) continue;
    yield {
      kind: 'listener',
      key: configuredListener(gateway, owner, listener.name),
      gateway: `${gateway.namespace}/${gateway.name}`,
      owner: ownerKey(owner),
      name: listener.name,
      port: listener.port,
      protocol: tls ? 'HTTPS' : 'HTTP',
      ...(listener.hostname === undefined ? {} : { hostname: listener.hostname }),
      certificates: tls ? certificates : [],
      ...clientValidation(read, owner, listener),
      ...(proof?.type === 'usable' ? { backendCertificate: proof.target } : {}),
      generation,
    };
  }
}

function clientValidation(read: Reader, owner: ListenerOwner, listener: ListenerNode): Pick<ListenerConfig, 'clientValidation'> {
  const validation = clientValidationOf(read, owner, listener);
  if (validation === undefined) return {};
  const mode = validation.mode === 'AllowInsecureFallback' ? validation.mode : 'AllowValidOnly';
  return { clientValidation: { authorities: authoritiesIn(read, validation.authorities), mode } };
}

function* serviceEndpoints(read: Reader, namespace: string, name: string): Iterable<EndpointsConfig> {
  for (const port of read.list(portsInUse, `${namespace}/${name}`)) {
    yield {
      kind: 'endpoints',
      key: endpointsKey(namespace, name, port),
      addresses: read.query(endpoints, namespace, name, port),
      ...connection(read, { namespace, service: name, port: read.query(servicePort, namespace, name, port) }),
    };
  }
}

/** How connections to a Service port are made. */
function connection(read: Reader, { namespace, service, port }: { readonly namespace: string; readonly service: string; readonly port: ServicePort }): Pick<EndpointsConfig, 'protocol' | 'tls' | 'failure' | 'withheld'> {
  if (port.type !== 'port') return {};
  const policy = policyInForce(read, { namespace, service, portName: port.name });
  if (policy !== undefined) return backendTls(read, namespace, policy);
  return port.appProtocol !== undefined && startsWithHttp2(port.appProtocol) ? { protocol: 'h2c' } : {};
}
