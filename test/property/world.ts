import * as fc from 'fast-check';

// Kubernetes objects as people write them, with so few names that they keep meeting each other.

const gatewayApi = 'gateway.networking.k8s.io/v1';
const namespace = fc.constantFrom('shop', 'infra');
const gatewayName = fc.constantFrom('front', 'back');
const serviceName = fc.constantFrom('cart', 'stock');
const listenerName = fc.constantFrom('web', 'admin', 'tls');
const hostname = fc.constantFrom('shop.example.com', '*.example.com', 'a.b.example.com', 'example.org');
const port = fc.constantFrom(80, 443, 8080);

const multicluster = 'multicluster.x-k8s.io';
const experimental = 'gateway.networking.x-k8s.io';
/** Present in one of three, and in one of ten. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 1, arbitrary }, { weight: 2, arbitrary: fc.constant(undefined) });
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 1, arbitrary }, { weight: 9, arbitrary: fc.constant(undefined) });
const created = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');

function metadata(parts: {
  readonly name: fc.Arbitrary<string>;
  readonly namespace?: fc.Arbitrary<string>;
  readonly labels?: fc.Arbitrary<object>;
}): fc.Arbitrary<object> {
  return fc.record({ generation: fc.integer({ min: 1, max: 3 }), creationTimestamp: created, ...parts });
}

function gatewayObject(kind: string, meta: fc.Arbitrary<object>, spec: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.record({ apiVersion: fc.constant(gatewayApi), kind: fc.constant(kind), metadata: meta, spec });
}

const gatewayClass = gatewayObject(
  'GatewayClass',
  metadata({ name: fc.constantFrom('ours', 'theirs') }),
  fc.record({
    controllerName: fc.constantFrom(
      ...Array<string>(5).fill('sallyport.dev/gateway-controller'),
      'example.net/controller',
    ),
    parametersRef: rarely(fc.constant({ group: '', kind: 'ConfigMap', name: 'settings', namespace: 'infra' })),
  }),
);

const certificateRef = fc.record({ name: fc.constantFrom('good', 'bad', 'gone'), namespace: maybe(namespace) });
const routeKind = fc.constantFrom(
  { kind: 'HTTPRoute' },
  { kind: 'GRPCRoute' },
  { kind: 'TCPRoute' },
  { kind: 'TLSRoute' },
  { group: 'example.net', kind: 'HTTPRoute' },
);
const allowedRoutes = fc.record({
  namespaces: maybe(
    fc.constantFrom<object>(
      { from: 'All' },
      { from: 'All' },
      { from: 'Same' },
      { from: 'Selector' },
      { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } },
      { from: 'Nobody' },
    ),
  ),
  kinds: rarely(fc.array(routeKind, { maxLength: 2 })),
});
const tls = fc.record({ certificateRefs: fc.array(certificateRef, { maxLength: 2 }) });
const listenerFilter = fc.constantFrom<object>(
  { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', backendRef: { name: 'cart', port: 8080 } } },
  {
    type: 'ExternalAuth',
    externalAuth: { protocol: 'GRPC', backendRef: { name: 'stock', namespace: 'infra', port: 9 } },
  },
  { type: 'ExternalAuth' },
  { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-b'] } },
  { type: 'Unheard' },
);
const plainListener = fc.record({
  name: listenerName,
  filters: rarely(fc.array(listenerFilter, { maxLength: 2 })),
  port,
  protocol: fc.constantFrom('HTTP', 'HTTP', 'HTTP', 'TCP', 'UDP', 'example.net/raw'),
  hostname: maybe(hostname),
  allowedRoutes: maybe(allowedRoutes),
  tls: rarely(tls),
});
const secureListener = fc.record({
  name: listenerName,
  port,
  protocol: fc.constant('HTTPS'),
  hostname: maybe(hostname),
  allowedRoutes: maybe(allowedRoutes),
  tls,
});
const tlsListener = fc.record({
  name: listenerName,
  port,
  protocol: fc.constant('TLS'),
  hostname: maybe(hostname),
  allowedRoutes: maybe(allowedRoutes),
  tls: maybe(
    fc.record({
      mode: maybe(fc.constantFrom('Terminate', 'Passthrough', 'Unheard')),
      certificateRefs: fc.array(certificateRef, { maxLength: 2 }),
    }),
  ),
});
const listener = fc.oneof(
  { weight: 3, arbitrary: plainListener },
  { weight: 1, arbitrary: secureListener },
  { weight: 1, arbitrary: tlsListener },
);
const certificates = 'certificates.k8s.io';
const authorityRef = fc
  .record({
    kind: fc.constantFrom('ConfigMap', 'ConfigMap', 'Secret', 'ClusterTrustBundle'),
    name: fc.constantFrom('good', 'bad', 'gone'),
    namespace: rarely(namespace),
  })
  .map((ref) => ({ group: ref.kind === 'ClusterTrustBundle' ? certificates : '', ...ref }));
const clusterTrustBundle = fc.record({
  apiVersion: fc.constant(`${certificates}/v1`),
  kind: fc.constant('ClusterTrustBundle'),
  metadata: metadata({ name: fc.constantFrom('good', 'bad') }),
  spec: fc.record({ trustBundle: fc.constantFrom('PEM', '') }),
});
const validation = fc.record({
  validation: maybe(
    fc.record({
      mode: maybe(fc.constantFrom('AllowInsecureFallback', 'Unheard')),
      caCertificateRefs: fc.array(authorityRef, { maxLength: 2 }),
    }),
  ),
});
const gatewayTls = fc.record({
  frontend: maybe(
    fc.record({
      default: validation,
      perPort: maybe(fc.array(fc.record({ port, tls: validation }), { maxLength: 2 })),
    }),
  ),
  backend: maybe(fc.record({ clientCertificateRef: certificateRef })),
});
const gateway = gatewayObject(
  'Gateway',
  metadata({ name: gatewayName, namespace }),
  fc.record({
    gatewayClassName: fc.constantFrom('ours', 'ours', 'ours', 'ours', 'theirs', 'gone'),
    allowedListeners: maybe(
      fc.record({
        namespaces: fc.constantFrom<object>(
          { from: 'All' },
          { from: 'Same' },
          { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } },
          {},
        ),
      }),
    ),
    tls: rarely(gatewayTls),
    addresses: rarely(
      fc.array(
        fc.constantFrom<object>({ value: '192.0.2.1' }, { type: 'Hostname' }, { type: 'example.com/pool', value: 'a' }),
        { maxLength: 2 },
      ),
    ),
    infrastructure: rarely(fc.constant({ parametersRef: { group: '', kind: 'ConfigMap', name: 'settings' } })),
    listeners: fc.uniqueArray(listener, { maxLength: 3, selector: ({ name }) => name }),
  }),
);

const listenerSet = gatewayObject(
  'ListenerSet',
  metadata({ name: fc.constantFrom('extra', 'more'), namespace }),
  fc.record({
    parentRef: fc.record({ name: gatewayName, namespace: maybe(namespace), kind: rarely(fc.constant('Door')) }),
    listeners: fc.uniqueArray(listener, { maxLength: 3, selector: ({ name }) => name }),
  }),
);

const filter = fc.constantFrom<object>(
  { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 9090 }, percent: 10 } },
  { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', namespace: 'infra', port: 8080 } } },
  { type: 'CORS', cors: { allowOrigins: ['https://*.example.com'] } },
  { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-a', value: '1' }], remove: ['x-b'] } },
  { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'X-A', value: '1' }], remove: ['x-a'] } },
  { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } },
  { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } },
  { type: 'ExtensionRef', extensionRef: { group: 'example.net', kind: 'Limit', name: 'slow' } },
  { type: 'Unheard' },
);
const filters = rarely(fc.array(filter, { maxLength: 2 }));
const match = fc.record({
  path: maybe(
    fc.constantFrom<object>(
      { type: 'Exact', value: '/a' },
      { type: 'PathPrefix', value: '/a' },
      { value: '/' },
      { type: 'Exact', value: '/b' },
      { type: 'RegularExpression', value: '(' },
      { type: 'Glob', value: '*' },
    ),
  ),
  headers: rarely(
    fc.constant([
      { name: 'X-User', value: 'a' },
      { name: 'x-user', value: 'b' },
    ]),
  ),
  method: maybe(fc.constantFrom('GET', 'POST')),
});
const backendRef = fc
  .record({
    name: serviceName,
    namespace: rarely(namespace),
    port: fc.constantFrom(8080, 8080, 9090, undefined),
    kind: rarely(fc.constantFrom('Service', 'Bucket', 'ServiceImport', 'XBackend')),
    weight: maybe(fc.constantFrom(0, 1, 9)),
    filters,
  })
  .map((ref) => {
    if (ref.kind === 'ServiceImport') return { ...ref, group: multicluster };
    return ref.kind === 'XBackend' ? { ...ref, group: experimental } : ref;
  });
const routeRule = fc.record({
  matches: maybe(fc.array(match, { maxLength: 2 })),
  filters,
  backendRefs: fc.array(backendRef, { maxLength: 3 }),
  timeouts: rarely(fc.constantFrom({ request: '1s' }, { request: '1s', backendRequest: '2s' }, { request: 'soon' })),
  retry: rarely(fc.constantFrom({}, { attempts: 0 }, { codes: [503], backoff: '1s' }, { codes: [200] })),
  sessionPersistence: rarely(fc.constantFrom<object>({ cookie: { name: 'app' } }, { type: 'Unheard' })),
});
const parentRef = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: gatewayName,
      namespace: maybe(namespace),
      sectionName: rarely(listenerName),
      port: rarely(port),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('ListenerSet'),
      name: fc.constantFrom('extra', 'more'),
      namespace: maybe(namespace),
      sectionName: rarely(listenerName),
    }),
  },
);
const route = gatewayObject(
  'HTTPRoute',
  metadata({ name: fc.constantFrom('one', 'two', 'three'), namespace }),
  fc.record({
    parentRefs: fc.array(parentRef, { maxLength: 3 }),
    hostnames: maybe(fc.array(hostname, { maxLength: 2 })),
    rules: fc.array(routeRule, { maxLength: 3 }),
  }),
);

const call = fc.record({
  method: maybe(
    fc.constantFrom<object>(
      { service: 'shop.Cart', method: 'Add' },
      { service: 'shop.Cart' },
      { method: 'Add' },
      { type: 'RegularExpression', service: '(' },
      { service: 'a/b' },
      {},
    ),
  ),
  headers: rarely(fc.constant([{ name: 'X-User', value: 'a' }])),
});
const callRule = fc.record({
  matches: maybe(fc.array(call, { maxLength: 2 })),
  filters,
  backendRefs: fc.array(backendRef, { maxLength: 3 }),
});
const grpcRoute = gatewayObject(
  'GRPCRoute',
  metadata({ name: fc.constantFrom('one', 'two'), namespace }),
  fc.record({
    parentRefs: fc.array(parentRef, { maxLength: 3 }),
    hostnames: maybe(fc.array(hostname, { maxLength: 2 })),
    rules: fc.array(callRule, { maxLength: 2 }),
  }),
);

const layer4Rule = fc.record({
  backendRefs: fc.array(
    backendRef.map(({ filters: _filters, ...rest }) => rest),
    { maxLength: 3 },
  ),
});
const layer4Spec = { parentRefs: fc.array(parentRef, { maxLength: 3 }), rules: fc.array(layer4Rule, { maxLength: 2 }) };
const layer4Route = fc.oneof(
  gatewayObject(
    'TLSRoute',
    metadata({ name: fc.constantFrom('one', 'two'), namespace }),
    fc.record({ ...layer4Spec, hostnames: maybe(fc.array(hostname, { maxLength: 2 })) }),
  ),
  gatewayObject('TCPRoute', metadata({ name: fc.constantFrom('one', 'two'), namespace }), fc.record(layer4Spec)),
  gatewayObject('UDPRoute', metadata({ name: fc.constantFrom('one', 'two'), namespace }), fc.record(layer4Spec)),
);

const grant = gatewayObject(
  'ReferenceGrant',
  metadata({ name: fc.constantFrom('a', 'b'), namespace }),
  fc.record({
    from: fc.array(
      fc.record({
        group: fc.constant('gateway.networking.k8s.io'),
        kind: fc.constantFrom('HTTPRoute', 'GRPCRoute', 'TCPRoute', 'Gateway', 'ListenerSet'),
        namespace,
      }),
      { maxLength: 2 },
    ),
    to: fc.array(
      fc.record({
        group: fc.constantFrom('', '', multicluster, experimental),
        kind: fc.constantFrom('Service', 'Secret', 'ServiceImport', 'XBackend'),
        name: maybe(fc.constantFrom('cart', 'good')),
      }),
      { maxLength: 2 },
    ),
  }),
);

const hostnamePolicy = fc.record({
  apiVersion: fc.constant('sallyport.dev/v1alpha1'),
  kind: fc.constant('HostnamePolicy'),
  metadata: metadata({ name: fc.constantFrom('a', 'b', 'c') }),
  spec: fc.record({
    hostnames: fc.array(fc.oneof(hostname, fc.constant('*')), { maxLength: 2 }),
    paths: maybe(fc.array(fc.constantFrom('/', '/a', '/a/b'), { maxLength: 2 })),
    namespaces: fc.record({
      names: maybe(fc.array(namespace, { maxLength: 2 })),
      selector: maybe(fc.constant({ matchLabels: { exposure: 'public' } })),
    }),
    gateways: rarely(fc.array(fc.record({ namespace, name: gatewayName }), { maxLength: 2 })),
  }),
});

const policyTarget = fc.record({
  group: fc.constantFrom('', '', multicluster, experimental),
  kind: fc.constantFrom('Service', 'Service', 'Bucket', 'ServiceImport', 'XBackend'),
  name: serviceName,
  sectionName: maybe(fc.constantFrom('http', 'gone')),
});
const backendTlsPolicy = gatewayObject(
  'BackendTLSPolicy',
  metadata({ name: fc.constantFrom('a', 'b'), namespace }),
  fc.record({
    targetRefs: fc.array(policyTarget, { maxLength: 2 }),
    validation: fc.record({
      hostname: fc.constantFrom('backend.example.com', 'backend.example.com', ''),
      caCertificateRefs: maybe(fc.array(authorityRef, { maxLength: 2 })),
      wellKnownCACertificates: maybe(fc.constantFrom('System', 'Unheard')),
      subjectAltNames: rarely(fc.constant([{ type: 'URI', uri: 'spiffe://a/b' }])),
    }),
  }),
);

const backendTls = fc.record({
  mode: fc.constantFrom('None', 'ServerOnly', 'ClientAndServer', 'Unheard'),
  clientCertificateRef: rarely(certificateRef),
  validation: maybe(
    fc.record({
      hostname: fc.constantFrom('api.example.com', ''),
      caCertificateRefs: maybe(fc.array(authorityRef, { maxLength: 2 })),
      wellKnownCACertificates: maybe(fc.constantFrom('System', 'Unheard')),
    }),
  ),
});
const xBackend = fc.record({
  apiVersion: fc.constant(`${experimental}/v1alpha1`),
  kind: fc.constant('XBackend'),
  metadata: metadata({ name: serviceName, namespace }),
  spec: fc.record({
    type: fc.constantFrom('ExternalHostname', 'ExternalHostname', 'EndpointSelector', 'Unheard'),
    externalHostname: maybe(
      fc.record({ hostname: fc.constantFrom('api.example.com', 'api.example.com', 'db.shop.svc', '10.0.0.1', '') }),
    ),
    endpointSelector: rarely(fc.constant({ matchLabels: { app: 'cart' } })),
    port: fc.constantFrom<object>({ number: 443 }, { number: 8080 }, { port: 443 }, {}),
    protocol: maybe(fc.constantFrom('TCP', 'HTTP', 'HTTP2', 'HTTP11', 'H2C', 'MCP', 'GRPC', 'Unheard')),
    tls: maybe(backendTls),
    sessionPersistence: rarely(fc.constantFrom<object>({ cookie: { name: 'app' } }, { type: 'Unheard' })),
  }),
});

const trafficPolicy = fc.record({
  apiVersion: fc.constant(`${experimental}/v1alpha1`),
  kind: fc.constant('XBackendTrafficPolicy'),
  metadata: metadata({ name: fc.constantFrom('a', 'b'), namespace }),
  spec: fc.record({
    targetRefs: fc.array(
      policyTarget.map(({ sectionName: _sectionName, ...rest }) => rest),
      { maxLength: 2 },
    ),
    retryConstraint: maybe(
      fc.record({
        budget: maybe(
          fc.record({
            percent: maybe(fc.constantFrom(0, 20, 120)),
            interval: maybe(fc.constantFrom('10s', '2h', 'soon')),
          }),
        ),
        minRetryRate: maybe(fc.record({ count: maybe(fc.constantFrom(1, 3)), interval: maybe(fc.constant('1s')) })),
      }),
    ),
    sessionPersistence: maybe(
      fc.constantFrom<object>({ cookie: {} }, { type: 'Header', header: { name: 'x-session' } }, { type: 'Unheard' }),
    ),
  }),
});

const servicePort = fc.record({
  name: fc.constantFrom('http', 'other'),
  port: fc.constantFrom(8080, 9090),
  protocol: rarely(fc.constantFrom('TCP', 'UDP')),
  appProtocol: rarely(fc.constantFrom('http', 'https', 'kubernetes.io/h2c')),
});
const service = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Service'),
  metadata: metadata({ name: serviceName, namespace }),
  spec: fc.record({
    type: rarely(fc.constant('ExternalName')),
    sessionAffinity: rarely(fc.constant('ClientIP')),
    ports: fc.array(servicePort, { minLength: 1, maxLength: 2 }),
  }),
});
const serviceImport = fc.record({
  apiVersion: fc.constant('multicluster.x-k8s.io/v1beta1'),
  kind: fc.constant('ServiceImport'),
  metadata: metadata({ name: serviceName, namespace }),
  spec: fc.record({
    type: fc.constantFrom('ClusterSetIP', 'Headless'),
    ips: maybe(fc.constantFrom(['10.100.0.1'], ['127.0.0.1'])),
    ports: fc.array(servicePort, { minLength: 1, maxLength: 2 }),
  }),
});
const endpoint = fc.record({
  addresses: fc.array(fc.constantFrom('10.0.0.1', '10.0.0.2'), { maxLength: 2 }),
  conditions: maybe(
    fc.record({ ready: maybe(fc.boolean()), serving: maybe(fc.boolean()), terminating: maybe(fc.boolean()) }),
  ),
});
const slice = fc.record({
  apiVersion: fc.constant('discovery.k8s.io/v1'),
  kind: fc.constant('EndpointSlice'),
  metadata: metadata({
    name: fc.constantFrom('s1', 's2', 's3'),
    namespace,
    labels: fc.record({
      'kubernetes.io/service-name': maybe(serviceName),
      'multicluster.kubernetes.io/service-name': rarely(serviceName),
    }),
  }),
  addressType: fc.constantFrom('IPv4', 'IPv4', 'FQDN'),
  endpoints: fc.array(endpoint, { maxLength: 2 }),
  ports: fc.array(
    fc.record({
      name: fc.constantFrom('http', 'other'),
      port: fc.constantFrom(8000, 9000),
      protocol: rarely(fc.constant('UDP')),
    }),
    { maxLength: 2 },
  ),
});
const namespaceObject = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Namespace'),
  metadata: metadata({ name: namespace, labels: fc.constantFrom({}, { exposure: 'public' }) }),
});

/** Any object of a served kind. Fields that are `undefined` are as good as absent. */
export const kubernetesObject: fc.Arbitrary<object> = fc
  .oneof(
    { weight: 5, arbitrary: route },
    { weight: 2, arbitrary: grpcRoute },
    { weight: 3, arbitrary: layer4Route },
    { weight: 4, arbitrary: gateway },
    { weight: 3, arbitrary: service },
    { weight: 1, arbitrary: serviceImport },
    { weight: 2, arbitrary: slice },
    { weight: 2, arbitrary: grant },
    { weight: 3, arbitrary: listenerSet },
    { weight: 2, arbitrary: backendTlsPolicy },
    { weight: 2, arbitrary: trafficPolicy },
    { weight: 2, arbitrary: xBackend },
    { weight: 1, arbitrary: clusterTrustBundle },
    { weight: 2, arbitrary: gatewayClass },
    { weight: 1, arbitrary: hostnamePolicy },
    { weight: 1, arbitrary: namespaceObject },
  )
  .map((object) => JSON.parse(JSON.stringify(object)) as object);
