const gatewayApi = 'gateway.networking.k8s.io/v1';

function metadata(name: string, namespace?: string): object {
  return { name, generation: 1, ...(namespace === undefined ? {} : { namespace }) };
}

/** What fuzzed objects meet; their names are those of test/fuzz/objects.ts. */
export const worldObjects: readonly object[] = [
  {
    apiVersion: gatewayApi,
    kind: 'GatewayClass',
    metadata: metadata('ours'),
    spec: { controllerName: 'sallyport.dev/gateway-controller' },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata('shop'), labels: { team: 'cart' } } },
  {
    apiVersion: gatewayApi,
    kind: 'Gateway',
    metadata: metadata('web', 'infra'),
    spec: {
      gatewayClassName: 'ours',
      listeners: [
        { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
        {
          name: 'web',
          port: 443,
          protocol: 'HTTPS',
          hostname: '*.example.com',
          tls: { certificateRefs: [{ name: 'tls' }] },
        },
      ],
    },
  },
  {
    apiVersion: gatewayApi,
    kind: 'HTTPRoute',
    metadata: metadata('store', 'shop'),
    spec: {
      parentRefs: [{ name: 'web', namespace: 'infra' }],
      hostnames: ['a.example.com'],
      rules: [{ matches: [{ path: { value: '/cart' } }], backendRefs: [{ name: 'cart', port: 80 }] }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata('cart', 'shop'),
    spec: { ports: [{ name: 'http', port: 80 }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata('cart', 'shop'), labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [{ addresses: ['10.0.0.1'] }],
  },
  {
    apiVersion: gatewayApi,
    kind: 'ReferenceGrant',
    metadata: metadata('allow', 'shop'),
    spec: {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'infra' }],
      to: [{ group: '', kind: 'Service' }],
    },
  },
];
