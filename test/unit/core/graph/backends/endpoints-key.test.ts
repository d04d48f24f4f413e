import { expect, test } from '@jest/globals';
import { endpointsKey, endpointsLabel, ofEndpointsKey } from '../../../../../src/core/graph/backends/endpoints-key.ts';

const named = { namespace: 'shop', name: 'cart' };

test.each([
  [{ kind: 'Service' as const, ...named }, '80', 'endpoints/shop/cart/80'],
  [{ kind: 'Service' as const, ...named }, '53/UDP', 'endpoints/shop/cart/53/UDP'],
  [{ kind: 'ServiceImport' as const, ...named }, '80', 'endpoints/ServiceImport/shop/cart/80'],
  [{ kind: 'ServiceImport' as const, ...named }, '53/UDP', 'endpoints/ServiceImport/shop/cart/53/UDP'],
  [{ kind: 'XBackend' as const, ...named }, '443', 'endpoints/XBackend/shop/cart/443'],
])('%j, port %s: %s', (backend, port, key) => {
  expect(endpointsKey(backend, port)).toBe(key);
  expect(ofEndpointsKey(key)).toEqual({ backend, port });
  expect(`endpoints/${endpointsLabel(key)}`).toBe(key);
});
