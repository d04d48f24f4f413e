import type { Aim } from './hostile-objects.ts';

/** The host that all healthy routes are for, and no hostile one. */
export const healthyHost = 'healthy.example.com';

const gatewayApi = 'gateway.networking.k8s.io/v1';

/**
 * What has to stay as it is beside hostile objects: a Gateway, a ListenerSet, routes to a Service that a grant allows, and Services
 * that hostile ones meet. The class `sallyport` is not among them.
 *
 * @param endpoint behind the Service
 */
export function healthyObjects(
  { namespaces: [shop, infra], gateway }: Aim,
  { address, port }: { readonly address: string; readonly port: number },
): readonly object[] {
  const everywhere = { namespaces: { from: 'All' } };
  const parentRefs = [{ name: gateway }, { kind: 'ListenerSet', name: 'steady' }];
  const backendRefs = [{ name: 'steady', namespace: shop, port: 80 }];
  const inInfra = { name: 'steady', namespace: infra };
  return [
    {
      apiVersion: gatewayApi,
      kind: 'GatewayClass',
      metadata: { name: 'ours' },
      spec: { controllerName: 'sallyport.dev/gateway-controller' },
    },
    {
      apiVersion: gatewayApi,
      kind: 'Gateway',
      metadata: { name: gateway, namespace: infra },
      spec: {
        gatewayClassName: 'sallyport',
        allowedListeners: everywhere,
        listeners: [
          { name: 'web', port: 80, protocol: 'HTTP', hostname: healthyHost, allowedRoutes: everywhere },
          { name: 'admin', port: 8080, protocol: 'HTTP', allowedRoutes: everywhere },
        ],
      },
    },
    {
      apiVersion: gatewayApi,
      kind: 'ListenerSet',
      metadata: inInfra,
      spec: {
        parentRef: { name: gateway },
        listeners: [{ name: 'web', port: 8081, protocol: 'HTTP', hostname: healthyHost, allowedRoutes: everywhere }],
      },
    },
    {
      apiVersion: gatewayApi,
      kind: 'HTTPRoute',
      metadata: inInfra,
      spec: {
        parentRefs,
        hostnames: [healthyHost],
        rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs }],
      },
    },
    {
      apiVersion: gatewayApi,
      kind: 'GRPCRoute',
      metadata: inInfra,
      spec: { parentRefs: parentRefs.slice(0, 1), hostnames: [`grpc.${healthyHost}`], rules: [{ backendRefs }] },
    },
    {
      apiVersion: gatewayApi,
      kind: 'ReferenceGrant',
      metadata: { name: 'steady', namespace: shop },
      spec: {
        from: ['HTTPRoute', 'GRPCRoute'].map((kind) => ({
          group: 'gateway.networking.k8s.io',
          kind,
          namespace: infra,
        })),
        to: [{ group: '', kind: 'Service', name: 'steady' }],
      },
    },
    ...['steady', 'cart', 'stock'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: shop },
      spec: { ports: [{ name: 'http', port: 80 }] },
    })),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'steady', namespace: shop, labels: { 'kubernetes.io/service-name': 'steady' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
  ];
}
