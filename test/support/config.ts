import type { EndpointsConfig, ListenerConfig } from '../../src/core/routing/config.ts';

/** Endpoints `endpoints/shop/<service>/80`, one for each of the ports. */
export function endpointsConfig(service: string, ...ports: readonly number[]): EndpointsConfig {
  return {
    kind: 'endpoints',
    key: `endpoints/shop/${service}/80`,
    addresses: ports.map((port) => ({ host: '127.0.0.1', port })),
  };
}

/** An HTTP listener `listener/infra/gateway/<name>` without hostname. */
export function listenerConfig(name: string, parts: Partial<ListenerConfig> = {}): ListenerConfig {
  return {
    kind: 'listener',
    key: `listener/infra/gateway/${name}`,
    gateway: 'infra/gateway',
    owner: 'Gateway/infra/gateway',
    name,
    port: 80,
    protocol: 'HTTP',
    certificates: [],
    generation: 1,
    ...parts,
  };
}
