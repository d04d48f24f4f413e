import { backendKey, ofBackendKey, type BackendObject } from '../graph/backends/backend-object.ts';
import type { ServicePortKey } from '../graph/backends/backends.ts';
import type { ConfigKey } from './config.ts';

const prefix = 'endpoints/';

/** The configuration key of the endpoints of a backend's port. */
export function endpointsKey(backend: BackendObject, port: ServicePortKey): ConfigKey {
  return `${prefix}${backendKey(backend)}/${port}`;
}

/** Returns the backend and the port of such a key. */
export function ofEndpointsKey(key: ConfigKey): { readonly backend: BackendObject; readonly port: ServicePortKey } {
  const { backend, rest } = ofBackendKey(endpointsLabel(key));
  return { backend, port: rest };
}

/** The backend and the port of such a key in logs, metrics and reports: `shop/cart/80`, `ServiceImport/shop/cart/80`. */
export function endpointsLabel(key: ConfigKey): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}
