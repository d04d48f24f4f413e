import { isReserved, type ConfigKey, type ListenerConfig } from '../core/routing/config.ts';
import { formatAddress } from './sockets/address.ts';
import type { Address } from './sockets/address.ts';

/** An address that a set of listeners requests. */
export interface Binding {
  readonly address: Address;
  readonly transport: 'tcp' | 'udp';
  readonly listeners: ListenerConfig[];
}

/** Returns the addresses of a listener. Listeners with the same address share it; port 0 counts as an address, too. */
export type Bind = (listener: ListenerConfig) => readonly Address[];

/** The addresses that listeners request, by name. Ports whose listeners are all reserved are not bound. */
export function bindingsOf(listeners: ReadonlyMap<ConfigKey, ListenerConfig>, bind: Bind): Map<string, Binding> {
  const bindings = new Map<string, Binding>();
  for (const listener of listeners.values()) {
    const transport = listener.protocol === 'UDP' ? 'udp' : 'tcp';
    for (const address of bind(listener)) {
      // TCP and UDP ports of the same number are different ports.
      const name = `${formatAddress(address.host, address.port)}${transport === 'udp' ? '/udp' : ''}`;
      const binding = bindings.get(name) ?? { address, transport, listeners: [] };
      binding.listeners.push(listener);
      bindings.set(name, binding);
    }
  }
  for (const [name, { listeners: ofPort }] of bindings) if (ofPort.every(isReserved)) bindings.delete(name);
  return bindings;
}

const bindErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is already in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'binding this port needs a privilege that the process lacks',
};

/** Describes why an address cannot be bound. */
export function bindFailure(name: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const detail = bindErrors[code] ?? (error instanceof Error ? error.message : 'unknown error');
  return `cannot listen on ${name}: ${detail}`;
}
