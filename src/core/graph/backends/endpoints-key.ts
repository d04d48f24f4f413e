import { backendKey, ofBackendKey, type BackendObject } from './backend-object.ts';
import type { ServicePortKey } from './backends.ts';

const prefix = 'endpoints/';

/** The configuration key of the endpoints of a backend's port. */
export function endpointsKey(backend: BackendObject, port: ServicePortKey): string {
  return [`${prefix}${backendKey(backend)}`, port].join('/');
}

/** Returns the backend and the port of such a key. */
export function ofEndpointsKey(key: string): { readonly backend: BackendObject; readonly port: ServicePortKey } {
  const { backend, rest } = ofBackendKey(endpointsLabel(key));
  return { backend, port: rest };
}

/** The backend and the port of such a key in logs, metrics and reports: `shop/cart/80`, `ServiceImport/shop/cart/80`. */
export function endpointsLabel(key: string): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}
