import type { GatewayPort } from '../../src/core/graph/listeners/gateway-listeners.ts';

/** Ports of listeners that are served over TCP. */
export function tcpPorts(...ports: readonly number[]): readonly GatewayPort[] {
  return ports.map((port) => ({ port, transport: 'TCP' }));
}
