import type { Facts } from './evaluation.ts';

/** A BackendTLSPolicy in the namespace `shop`, for the Service `cart` unless told otherwise. */
export function backendTlsPolicy(name: string, spec: object = {}, created = '2026-01-01T00:00:00Z'): unknown {
  const targetRefs = [{ group: '', kind: 'Service', name: 'cart' }];
  const validation = { hostname: 'cart.example.com', caCertificateRefs: [authority('good')] };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'BackendTLSPolicy',
    metadata: { name, namespace: 'shop', creationTimestamp: created },
    spec: { targetRefs, validation, ...spec },
  };
}

/** A reference to a ConfigMap with an authority. */
export function authority(name: string): object {
  return { group: '', kind: 'ConfigMap', name };
}

/** The ConfigMap `shop/good` is one, `shop/empty` is not. */
export const authorityFacts: Facts = {
  authorities: {
    'shop/good': { type: 'authorities', certificates: ['PEM'] },
    'shop/empty': { type: 'unusable', problem: 'ca.crt not found in its data' },
  },
};
