/** An XBackendTrafficPolicy in the namespace `shop`, for the Service `cart` unless told otherwise. */
export function trafficPolicy(name: string, spec: object = {}, created = '2026-01-01T00:00:00Z'): object {
  const targetRefs = [{ group: '', kind: 'Service', name: 'cart' }];
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XBackendTrafficPolicy',
    metadata: { name, namespace: 'shop', creationTimestamp: created },
    spec: { targetRefs, ...spec },
  };
}
