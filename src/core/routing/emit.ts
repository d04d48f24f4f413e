import { startsWithHttp2 } from '../graph/app-protocols.ts';
import { endpoints, servicePort } from '../graph/backends.ts';
import { isOurGateway, listenersOf } from '../graph/gateway.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import { terminatesTls } from '../graph/protocols.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import type { Emitted, Reader } from '../incremental/reader.ts';
import { listenerKey, listenerValidity, partProblems, portsInUse } from '../rules/validity.ts';
import { endpointsKey } from './backend-target.ts';
import { compileRoute } from './compile-route.ts';
import type { ConfigResource, EndpointsConfig, ListenerConfig } from './config.ts';

/**
 * The configuration of all data planes as keyed resources: listeners by Gateway, routes, endpoints by Service port.
 * One changed object changes its own resources only.
 */
export const configuration = defineEmission<ConfigResource>({
  name: 'configuration',
  stratum: strata.emissions,
  over: objectsOf('Gateway', 'HTTPRoute', 'Service'),
  emit(read, kind = '', namespace = '', name = '') {
    switch (kind) {
      case 'Gateway':
        return keyed(gatewayListeners(read, namespace, name));
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

function* gatewayListeners(read: Reader, namespace: string, name: string): Iterable<ListenerConfig> {
  if (!read.query(isOurGateway, namespace, name)) return;
  const gateway = readObject(read, 'Gateway', namespace, name);
  const problems = read.query(partProblems, 'Gateway', namespace, name);
  if (gateway === undefined || problems.some((problem) => problem.scope === 'object' && problem.condition === 'Accepted')) return;
  for (const listener of listenersOf(read, namespace, name)) {
    const validity = listenerValidity(problems, listener.index);
    if (validity.accepted !== undefined || validity.conflicted !== undefined) continue;
    const tls = terminatesTls(listener.protocol);
    const certificates = listener.certificates.flatMap((certificate) => (certificate.type === 'usable' ? [certificate.secret] : []));
    // Without a certificate no handshake could succeed; the listener says so in ResolvedRefs.
    if (tls && certificates.length === 0) continue;
    yield {
      kind: 'listener',
      key: listenerKey(namespace, name, listener.name),
      gateway: `${namespace}/${name}`,
      owner: `Gateway/${namespace}/${name}`,
      name: listener.name,
      port: listener.port,
      protocol: tls ? 'HTTPS' : 'HTTP',
      ...(listener.hostname === undefined ? {} : { hostname: listener.hostname }),
      certificates: tls ? certificates : [],
      generation: gateway.meta.generation,
    };
  }
}

function* serviceEndpoints(read: Reader, namespace: string, name: string): Iterable<EndpointsConfig> {
  for (const port of read.list(portsInUse, `${namespace}/${name}`)) {
    const found = read.query(servicePort, namespace, name, port);
    const appProtocol = found.type === 'port' ? found.appProtocol : undefined;
    yield {
      kind: 'endpoints',
      key: endpointsKey(namespace, name, port),
      addresses: read.query(endpoints, namespace, name, port),
      ...(appProtocol !== undefined && startsWithHttp2(appProtocol) ? { protocol: 'h2c' as const } : {}),
    };
  }
}
