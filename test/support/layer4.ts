import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type {
  ConfigResource,
  Layer4RouteConfig,
  Layer4RouteKind,
  ListenerConfig,
} from '../../src/core/routing/config.ts';
import type { ConnectionLogEntry } from '../../src/proxy/layer4/connection-log.ts';
import type { ProxyOptions } from '../../src/proxy/proxy.ts';
import { endpointsConfig, listenerConfig } from './config.ts';
import { portOf, startProxy } from './proxy.ts';
import type { ProxyUnderTest } from './proxy.ts';

/** A TCP listener `listener/infra/gateway/tcp`. */
export const tcp = listenerConfig('tcp', { protocol: 'TCP', port: 2 });

/** A UDP listener on the same port. */
export const udp = listenerConfig('udp', { protocol: 'UDP', port: 2 });

/** A TLS listener; where it terminates, with the certificate `infra/server`. */
export function tlsListener(
  name: string,
  tlsMode: 'Terminate' | 'Passthrough',
  parts: Partial<ListenerConfig> = {},
): ListenerConfig {
  return listenerConfig(name, {
    protocol: 'TLS',
    port: 3,
    tlsMode,
    certificates: tlsMode === 'Terminate' ? ['infra/server'] : [],
    ...parts,
  });
}

export interface Layer4UnderTest extends Omit<ProxyUnderTest, 'log' | 'port'> {
  readonly connections: ConnectionLogEntry[];
  portOf(listener: ListenerConfig): number;
}

/** A proxy whose listeners have an address by port, `127.0.0.<port>`. Close it with `closeProxies`. */
export async function startLayer4(
  resources: readonly ConfigResource[],
  options: Partial<ProxyOptions> = {},
): Promise<Layer4UnderTest> {
  const connections: ConnectionLogEntry[] = [];
  const { proxy, apply } = await startProxy(resources, {
    bind: ({ port }) => [{ host: hostOf(port), port: 0 }],
    connectionLog: (entry) => connections.push(entry),
    ...options,
  });
  return { proxy, apply, connections, portOf: ({ key }) => portOf(proxy, key) };
}

/** Where `startLayer4` binds the listeners of a port of the specification. */
export function hostOf(port: number): string {
  return `127.0.0.${port}`;
}

/** A TCPRoute for everything on `tcp`, one of its backends for each Service, with the weight 1. */
export function tcpRoute(...services: readonly string[]): Layer4RouteConfig {
  return layer4Route('TCPRoute', tcp, { backends: services.map((service) => backendTo(service)) });
}

/** A route `shop/<kind>` attached to a listener, for any server name. */
export function layer4Route(
  routeKind: Layer4RouteKind,
  listener: ListenerConfig,
  parts: Partial<Layer4RouteConfig> = {},
): Layer4RouteConfig {
  const name = routeKind.toLowerCase();
  return {
    kind: 'layer4Route',
    key: `route/${routeKind}/shop/${name}`,
    route: `shop/${name}`,
    routeKind,
    created: '2026-01-01T00:00:00Z',
    attachments: [{ listener: listener.key, hostnames: [''] }],
    backends: [backendTo('app')],
    generation: 1,
    ...parts,
  };
}

/** A backend at the endpoints that `endpointsConfig(service)` stands for. */
export function backendTo(service: string, weight = 1): Layer4RouteConfig['backends'][number] {
  return { weight, target: { type: 'endpoints', key: endpointsConfig(service).key } };
}

/** A client of a listener, which may not be connected yet; both directions are open until they are ended. */
export function dial({ portOf }: Pick<Layer4UnderTest, 'portOf'>, listener: ListenerConfig = tcp): Socket {
  const socket = connect({ host: hostOf(listener.port), port: portOf(listener), allowHalfOpen: true });
  // How it ends is told by `endOf`.
  return socket.on('error', () => undefined);
}

/** Everything that comes until a connection ends, and how it ends. */
export function endOf(
  socket: Socket,
): Promise<{ readonly received: string; readonly how: 'end' | 'reset' | 'closed' }> {
  const { promise, resolve } = Promise.withResolvers<{
    readonly received: string;
    readonly how: 'end' | 'reset' | 'closed';
  }>();
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.once('end', () => resolve({ received, how: 'end' }));
  socket.once('error', () => resolve({ received, how: 'reset' }));
  socket.once('close', () => resolve({ received, how: 'closed' }));
  return promise;
}
