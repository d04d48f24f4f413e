import { beforeAll, describe, expect, test } from '@jest/globals';
import { issueServingCertificate, createAuthority } from '../../../src/certificates/index.ts';
import { readSettings } from '../../../src/core/admission/read-settings.ts';
import type { AdmissionRequest } from '../../../src/core/admission/types.ts';
import { installationCell } from '../../../src/core/graph/inputs.ts';
import { write, type Kernel } from '../../../src/core/incremental/index.ts';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { impactInCluster } from '../../../src/webhook/impact-decision.ts';
import { installation } from '../../support/evaluation.ts';
import { webhookKernel, type Described } from '../../support/webhook-kernel.ts';
import { requestOf } from '../core/admission/requests.ts';

function named(apiVersion: string, kind: string, name: string, rest: object): Described {
  const [namespace = '', own = name] = name.includes('/') ? name.split('/') : [undefined, name];
  const metadata = {
    name: own,
    ...(namespace === '' ? {} : { namespace }),
    ...('metadata' in rest ? (rest.metadata as object) : {}),
  };
  return { apiVersion, kind, ...rest, metadata };
}

const gatewayApi = 'gateway.networking.k8s.io/v1';
const httpListener = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } };
const tlsListener = (certificates: readonly string[], more: object = {}) => ({
  name: 'https',
  port: 443,
  protocol: 'HTTPS',
  allowedRoutes: { namespaces: { from: 'All' } },
  tls: { certificateRefs: certificates.map((name) => ({ name })) },
  ...more,
});
const gateway = (...listeners: readonly object[]) =>
  named(gatewayApi, 'Gateway', 'infra/public', { spec: { gatewayClassName: 'sallyport', listeners } });
const route = (name: string, rules: readonly object[], spec: object = {}) =>
  named(gatewayApi, 'HTTPRoute', name, {
    spec: {
      parentRefs: [{ name: 'public', namespace: 'infra' }],
      hostnames: ['shop.example.com'],
      rules,
      ...spec,
    },
  });
const service = (name: string, spec: object = { ports: [{ port: 80 }] }) => named('v1', 'Service', name, { spec });
const to = (...names: readonly string[]) => names.map((name) => ({ name, port: 80 }));
const cartRule = { matches: [{ path: { type: 'PathPrefix', value: '/cart' } }], backendRefs: to('cart') };
const cart = service('shop/cart');
const namespace = (labels?: object, more: object = {}) =>
  named('v1', 'Namespace', 'shop', { metadata: { ...(labels && { labels }), ...more } });
const configMap = (name: string, data: object) => named('v1', 'ConfigMap', name, { data });

function decide(kernel: Kernel, request: AdmissionRequest, settings: unknown = {}) {
  const read = readSettings(settings);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return runToEnd(impactInCluster(request, { kernel, settings: () => read.settings }));
}

function warningsFor(kernel: Kernel, ...request: Parameters<typeof requestOf>): readonly string[] {
  const verdict = decide(kernel, requestOf(...request));
  expect(verdict).toEqual({ allowed: true, warnings: verdict.warnings, findings: [], auditAnnotations: {} });
  return verdict.warnings;
}

const nothing = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };

describe('deleting a Service', () => {
  test('names the route that it leaves without a backend, and its requests', () => {
    const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]));
    expect(warningsFor(kernel, { oldObject: cart })).toEqual([
      '[impact] Deleting Service shop/cart leaves HTTPRoute shop/store without a backend: requests for shop.example.com/cart will get 500.',
    ]);
  });

  test('of several backends tells the share of the requests', () => {
    const kernel = webhookKernel(
      gateway(httpListener),
      cart,
      service('shop/next'),
      route('shop/store', [{ backendRefs: to('cart', 'next') }]),
    );
    expect(warningsFor(kernel, { oldObject: cart })).toEqual([
      '[impact] Deleting Service shop/cart leaves HTTPRoute shop/store without one of its backends: 1 of 2 requests for shop.example.com/ will get 500.',
    ]);
  });

  test('lists the first places, and as few as a warning has room for', () => {
    const rules = ['a', 'b', 'c', 'd', 'e'].map((path) => ({
      matches: [{ path: { value: `/${path}` } }],
      backendRefs: to('cart'),
    }));
    const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', rules));
    expect(warningsFor(kernel, { oldObject: cart })).toEqual([
      '[impact] Deleting Service shop/cart leaves HTTPRoute shop/store without a backend: requests for shop.example.com/a, shop.example.com/b, shop.example.com/c and 2 more will get 500.',
    ]);
    const long = rules.map((rule, index) => ({
      ...rule,
      matches: [{ path: { value: `/${'x'.repeat(60)}${index}` } }],
    }));
    const [warning = ''] = warningsFor(webhookKernel(gateway(httpListener), cart, route('shop/store', long)), {
      oldObject: cart,
    });
    expect(warning).toMatch(/x0 and 4 more will get 500\.$/);
    expect(warning.length).toBeLessThanOrEqual(256);
  });

  test('compares few of the places of a route that has very many', () => {
    const listeners = Array.from({ length: 64 }, (_, index) => ({
      ...httpListener,
      name: `l${index}`,
      port: 1 + index,
    }));
    const rules = Array.from({ length: 16 }, (_, rule) => ({
      matches: Array.from({ length: 8 }, (__, match) => ({ path: { value: `/${rule}/${match}` } })),
      backendRefs: to('cart'),
    }));
    const hostnames = Array.from({ length: 16 }, (_, index) => `h${index}.example.com`);
    const kernel = webhookKernel(gateway(...listeners), cart, route('shop/store', rules, { hostnames }));
    const [warning] = warningsFor(kernel, { oldObject: cart });
    expect(warning).toMatch(/: requests for h0\.example\.com:1\/0\/0, .* and at least 125 more will get 500\.$/);
  });

  test('describes requests as their matches do', () => {
    const wildcard = { ...httpListener, name: 'alternate', port: 8080 };
    const match = {
      path: { value: '/x' },
      method: 'POST',
      headers: [{ name: 'x-version', value: 'next' }],
      queryParams: [{ name: 'q', value: '1' }],
    };
    const kernel = webhookKernel(
      gateway(wildcard),
      cart,
      route('shop/store', [{ matches: [match], backendRefs: to('cart') }], { hostnames: ['*.example.com'] }),
      route('shop/any', [cartRule], { hostnames: [] }),
    );
    expect(warningsFor(kernel, { oldObject: cart }).toSorted()).toEqual([
      '[impact] Deleting Service shop/cart leaves HTTPRoute shop/any without a backend: requests for *:8080/cart will get 500.',
      '[impact] Deleting Service shop/cart leaves HTTPRoute shop/store without a backend: requests for POST *.example.com:8080/x with x-version, q will get 500.',
    ]);
  });

  test('leaves out requests that another route gets anyway', () => {
    const other = named(gatewayApi, 'HTTPRoute', 'shop/older', {
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: {
        parentRefs: [{ name: 'public', namespace: 'infra' }],
        hostnames: ['shop.example.com'],
        rules: [{ ...cartRule, backendRefs: to('next') }],
      },
    });
    const newer = named(gatewayApi, 'HTTPRoute', 'shop/store', {
      metadata: { creationTimestamp: '2021-01-01T00:00:00Z' },
      spec: {
        parentRefs: [{ name: 'public', namespace: 'infra' }],
        hostnames: ['shop.example.com'],
        rules: [cartRule],
      },
    });
    const kernel = webhookKernel(gateway(httpListener), cart, service('shop/next'), other, newer);
    expect(warningsFor(kernel, { oldObject: cart })).toEqual([
      expect.stringMatching(
        /^\[impact\] Deleting Service shop\/cart breaks HTTPRoute "shop\/store": spec\.rules\[0\]\.backendRefs\[0\]: /,
      ),
    ]);
  });

  test('that only gets mirrored requests breaks no request', () => {
    const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'cart', port: 80 } } };
    const kernel = webhookKernel(
      gateway(httpListener),
      cart,
      service('shop/next'),
      route('shop/store', [{ filters: [mirror], backendRefs: to('next') }]),
    );
    expect(warningsFor(kernel, { oldObject: cart })).toEqual([
      expect.stringMatching(
        /breaks HTTPRoute "shop\/store": spec\.rules\[0\]\.filters\[0\]\.requestMirror\.backendRef: .* no requests are mirrored to it\.$/,
      ),
    ]);
  });

  test('of gRPC calls, connections and datagrams uses their words', () => {
    const parentRefs = (sectionName: string) => [{ name: 'public', namespace: 'infra', sectionName }];
    const listeners = [
      httpListener,
      {
        name: 'tls',
        port: 8443,
        protocol: 'TLS',
        tls: { mode: 'Passthrough' },
        allowedRoutes: { namespaces: { from: 'All' } },
      },
      { name: 'tcp', port: 5432, protocol: 'TCP', allowedRoutes: { namespaces: { from: 'All' } } },
      { name: 'udp', port: 53, protocol: 'UDP', allowedRoutes: { namespaces: { from: 'All' } } },
    ];
    const rules = [{ backendRefs: to('cart') }];
    const both = service('shop/cart', {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80, protocol: 'UDP' },
      ],
    });
    const kernel = webhookKernel(
      gateway(...listeners),
      both,
      named(gatewayApi, 'GRPCRoute', 'shop/calls', {
        spec: {
          parentRefs: parentRefs('web'),
          hostnames: ['grpc.example.com'],
          rules: [{ matches: [{ method: { service: 'shop.Cart', method: 'Add' } }], backendRefs: to('cart') }],
        },
      }),
      named(gatewayApi, 'TLSRoute', 'shop/secure', {
        spec: { parentRefs: parentRefs('tls'), hostnames: ['db.example.com'], rules },
      }),
      named(gatewayApi, 'TCPRoute', 'shop/database', { spec: { parentRefs: parentRefs('tcp'), rules } }),
      named(gatewayApi, 'UDPRoute', 'shop/names', { spec: { parentRefs: parentRefs('udp'), rules } }),
    );
    expect(warningsFor(kernel, { oldObject: both }).toSorted()).toEqual([
      '[impact] Deleting Service shop/cart leaves GRPCRoute shop/calls without a backend: requests for grpc.example.com/shop.Cart/Add will get UNAVAILABLE.',
      '[impact] Deleting Service shop/cart leaves TCPRoute shop/database without a backend: connections to tcp://public.infra:5432 will be reset.',
      '[impact] Deleting Service shop/cart leaves TLSRoute shop/secure without a backend: connections to tls://db.example.com:8443 will be reset.',
      '[impact] Deleting Service shop/cart leaves UDPRoute shop/names without a backend: datagrams to udp://public.infra:53 will be dropped.',
    ]);
  });

  test('that no route refers to says nothing', () => {
    const kernel = webhookKernel(gateway(httpListener), cart, service('shop/next'), route('shop/store', [cartRule]));
    expect(warningsFor(kernel, { oldObject: service('shop/next') })).toEqual([]);
  });

  test('that many routes refer to is one warning for each of the first, and one for all others', () => {
    const routes = Array.from({ length: 12 }, (_, index) =>
      route(`shop/store-${index}`, [{ ...cartRule, matches: [{ path: { value: `/${index}` } }] }]),
    );
    const warnings = warningsFor(webhookKernel(gateway(httpListener), cart, ...routes), { oldObject: cart });
    expect(warnings).toHaveLength(6);
    expect(warnings.at(-1)).toBe('[impact] Deleting Service shop/cart breaks 7 more objects.');
  });
});

describe('changing a Service', () => {
  const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]));

  test('so that a port goes names the route', () => {
    expect(warningsFor(kernel, { oldObject: cart, object: service('shop/cart', { ports: [{ port: 8080 }] }) })).toEqual(
      [
        '[impact] This change of Service shop/cart leaves HTTPRoute shop/store without a backend: requests for shop.example.com/cart will get 500.',
      ],
    );
  });

  test('to an ExternalName, or to a protocol that data planes do not speak, names the route', () => {
    for (const spec of [
      { type: 'ExternalName', externalName: 'example.org' },
      { ports: [{ port: 80, appProtocol: 'example.com/own' }] },
    ]) {
      expect(warningsFor(kernel, { oldObject: cart, object: service('shop/cart', spec) })).toEqual([
        '[impact] This change of Service shop/cart leaves HTTPRoute shop/store without a backend: requests for shop.example.com/cart will get 500.',
      ]);
    }
  });

  test('without effect on its ports says nothing', () => {
    const selected = service('shop/cart', { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'cart' } });
    expect(warningsFor(kernel, { oldObject: cart, object: selected })).toEqual([]);
  });

  test('is compared with the old object of the request, where the state lags behind', () => {
    const lagging = webhookKernel(
      gateway(httpListener),
      service('shop/cart', { ports: [{ port: 9000 }] }),
      route('shop/store', [cartRule]),
    );
    expect(warningsFor(lagging, { oldObject: cart, object: service('shop/cart', { ports: [] }) })).toHaveLength(1);
  });
});

describe('a Secret', () => {
  let secret: Described;
  let keyText: string;

  beforeAll(async () => {
    const authority = await createAuthority();
    const { certificate, privateKey } = await issueServingCertificate(authority, {
      dnsNames: ['shop.example.com'],
      ipAddresses: [],
    });
    keyText = Buffer.from(privateKey).toString('base64');
    secret = named('v1', 'Secret', 'infra/shop', {
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': Buffer.from(certificate).toString('base64'), 'tls.key': keyText },
    });
  });

  test('that is the only certificate of a listener', () => {
    const kernel = webhookKernel(gateway(tlsListener(['shop'], { hostname: 'shop.example.com' })));
    expect(warningsFor(kernel, { oldObject: secret })).toEqual([
      '[impact] Deleting Secret infra/shop leaves listener https of Gateway infra/public without a certificate: TLS connections for shop.example.com will be closed.',
    ]);
  });

  test('that is the only certificate of several listeners', () => {
    const kernel = webhookKernel(
      gateway(
        tlsListener(['shop'], { hostname: 'shop.example.com' }),
        tlsListener(['shop'], { name: 'other', port: 8443 }),
      ),
    );
    expect(warningsFor(kernel, { oldObject: secret })).toEqual([
      '[impact] Deleting Secret infra/shop leaves listeners https, other of Gateway infra/public without a certificate: TLS connections for shop.example.com, any host will be closed.',
    ]);
  });

  test('beside another certificate of the listener, which is unknown here, breaks only the reference', () => {
    const kernel = webhookKernel(gateway(tlsListener(['shop', 'unseen'])));
    expect(warningsFor(kernel, { oldObject: secret })).toEqual([
      '[impact] Deleting Secret infra/shop breaks Gateway "infra/public": spec.listeners[0].tls.certificateRefs[0]: Secret "infra/shop" not found. Check its name and namespace, or create it with type kubernetes.io/tls.',
    ]);
  });

  test('that no listener refers to says nothing', () => {
    expect(warningsFor(webhookKernel(gateway(tlsListener(['unseen']))), { oldObject: secret })).toEqual([]);
  });

  test('that becomes invalid says what is wrong, and never what it contains', () => {
    const kernel = webhookKernel(gateway(tlsListener(['shop'])));
    const broken = { ...secret, data: { 'tls.crt': 'bm90IGEgY2VydGlmaWNhdGU=', 'tls.key': keyText } };
    const warnings = warningsFor(kernel, { oldObject: secret, object: broken });
    expect(warnings).toEqual([
      '[impact] This change of Secret infra/shop leaves listener https of Gateway infra/public without a certificate: TLS connections for any host will be closed.',
    ]);
    expect(warningsFor(kernel, { oldObject: broken, object: secret })).toEqual([]);
    expect(
      warningsFor(kernel, {
        oldObject: secret,
        object: { ...secret, metadata: { ...secret.metadata, labels: { a: 'b' } } },
      }),
    ).toEqual([]);
  });

  test('that was invalid before breaks nothing when it goes', () => {
    const broken = { ...secret, data: {} };
    expect(warningsFor(webhookKernel(gateway(tlsListener(['shop']))), { oldObject: broken })).toEqual([]);
  });
});

describe('a ConfigMap', () => {
  const policy = (...names: readonly string[]) =>
    named(gatewayApi, 'BackendTLSPolicy', 'shop/cart', {
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
        validation: {
          hostname: 'cart.example.com',
          caCertificateRefs: names.map((name) => ({ group: '', kind: 'ConfigMap', name })),
        },
      },
    });

  test('with the only authority of a BackendTLSPolicy', async () => {
    const { certificate } = await createAuthority();
    const authority = configMap('shop/ca', { 'ca.crt': certificate });
    const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]), policy('ca'));
    expect(warningsFor(kernel, { oldObject: authority })).toEqual([
      expect.stringMatching(/^\[impact\] Deleting ConfigMap shop\/ca breaks BackendTLSPolicy "shop\/cart": /),
    ]);
    expect(warningsFor(kernel, { oldObject: authority, object: configMap('shop/ca', { 'ca.crt': '' }) })).toHaveLength(
      1,
    );
    expect(
      warningsFor(kernel, { oldObject: authority, object: configMap('shop/ca', { 'ca.crt': certificate, more: 'x' }) }),
    ).toEqual([]);
    expect(warningsFor(kernel, { oldObject: configMap('shop/other', { 'ca.crt': certificate }) })).toEqual([]);
  });

  test('a ClusterTrustBundle with the only authority of a BackendTLSPolicy', async () => {
    const { certificate } = await createAuthority();
    const bundle = (trustBundle: string) =>
      named('certificates.k8s.io/v1', 'ClusterTrustBundle', 'example.com:ca:v1', { spec: { trustBundle } });
    const validation = {
      hostname: 'cart.example.com',
      caCertificateRefs: [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:ca:v1' }],
    };
    const verified = named(gatewayApi, 'BackendTLSPolicy', 'shop/cart', {
      spec: { targetRefs: [{ group: '', kind: 'Service', name: 'cart' }], validation },
    });
    const stored = bundle(certificate);
    const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]), verified, stored);
    kernel.apply([write(installationCell, [], { ...installation, notInstalled: [] })]);
    expect(warningsFor(kernel, { oldObject: stored })).toEqual([
      expect.stringMatching(
        /^\[impact\] Deleting ClusterTrustBundle example.com:ca:v1 breaks BackendTLSPolicy "shop\/cart": /,
      ),
    ]);
    expect(warningsFor(kernel, { oldObject: stored, object: bundle('') })).toHaveLength(1);
    expect(warningsFor(kernel, { oldObject: stored, object: bundle(`${certificate}\n`) })).toEqual([]);
  });

  test('with parameters of a Gateway', () => {
    const configured = named(gatewayApi, 'Gateway', 'infra/public', {
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [httpListener],
        infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'parameters' } },
      },
    });
    const kernel = webhookKernel(configured);
    const parameters = configMap('infra/parameters', { replicas: '2' });
    expect(warningsFor(kernel, { oldObject: parameters })).toEqual([
      '[impact] Deleting ConfigMap infra/parameters breaks Gateway "infra/public": spec.infrastructure.parametersRef: ConfigMap "infra/parameters" not found. Check the name, or create it. Until then, the Gateway is not accepted.',
    ]);
    expect(
      warningsFor(kernel, { oldObject: parameters, object: configMap('infra/parameters', { replicas: 'many' }) }),
    ).toHaveLength(1);
    expect(
      warningsFor(kernel, { oldObject: parameters, object: configMap('infra/parameters', { replicas: '3' }) }),
    ).toEqual([]);
  });
});

describe('a Namespace', () => {
  const selecting = gateway({
    ...httpListener,
    allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } } },
  });
  const kernel = webhookKernel(selecting, cart, namespace({ exposure: 'public' }), route('shop/store', [cartRule]));

  test('whose labels a listener selects detaches the routes in it', () => {
    // The API server sends the name of a Namespace as its namespace, too.
    expect(
      warningsFor(
        kernel,
        { oldObject: namespace({ exposure: 'public' }), object: namespace({}) },
        { namespace: 'shop' },
      ),
    ).toEqual([
      '[impact] This change of Namespace shop detaches HTTPRoute shop/store from Gateway infra/public: requests for shop.example.com/cart will get 404.',
    ]);
  });

  test('with other labels says nothing', () => {
    const labelled = namespace({ exposure: 'public', team: 'shop' });
    expect(warningsFor(kernel, { oldObject: namespace({ exposure: 'public' }), object: labelled })).toEqual([]);
  });
});

describe('deleting a Namespace', () => {
  const shop = namespace();
  const deletion = (...objects: readonly Described[]) =>
    warningsFor(webhookKernel(shop, ...objects), { oldObject: shop }, { namespace: 'shop' });
  const market = (name: string, ...backends: readonly string[]) =>
    route(`market/${name}`, [
      { backendRefs: backends.map((backend) => ({ name: backend, namespace: 'shop', port: 80 })) },
    ]);
  const grant = named('gateway.networking.k8s.io/v1beta1', 'ReferenceGrant', 'shop/market', {
    spec: {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'market' }],
      to: [{ group: '', kind: 'Service' }],
    },
  });

  test('names the objects of other namespaces that depend on its contents', () => {
    expect(deletion(gateway(httpListener), cart, grant, market('store', 'cart'))).toEqual([
      '[impact] Deleting Namespace shop leaves HTTPRoute market/store without a backend: requests for shop.example.com/ will get 500.',
    ]);
    const own = named(gatewayApi, 'Gateway', 'shop/front', {
      spec: { gatewayClassName: 'sallyport', listeners: [httpListener] },
    });
    const guest = route('market/guest', [{ backendRefs: [] }], {
      parentRefs: [{ name: 'front', namespace: 'shop' }],
    });
    expect(deletion(own, guest)).toEqual([
      '[impact] Deleting Namespace shop detaches HTTPRoute market/guest from Gateway shop/front: requests for shop.example.com/ will not be accepted.',
    ]);
  });

  test('names the routes in it that Gateways of other namespaces serve, and counts the rest', () => {
    expect(deletion(gateway(httpListener), cart, route('shop/store', [cartRule]))).toEqual([
      '[impact] Deleting Namespace shop deletes HTTPRoute shop/store of Gateway infra/public: requests for shop.example.com/cart will get 404.',
    ]);
    const routes = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      route(`shop/${name}`, [cartRule], { hostnames: [`${name}.example.com`] }),
    );
    expect(deletion(gateway(httpListener), cart, ...routes)).toEqual([
      ...['a', 'b', 'c'].map((name) =>
        expect.stringContaining(`deletes HTTPRoute shop/${name} of Gateway infra/public: `),
      ),
      '[impact] Deleting Namespace shop deletes 2 more routes of Gateways in other namespaces.',
    ]);
  });

  test('of which nothing outside knows says nothing', () => {
    const own = named(gatewayApi, 'Gateway', 'shop/front', {
      spec: { gatewayClassName: 'sallyport', listeners: [httpListener] },
    });
    const inside = route('shop/store', [cartRule], { parentRefs: [{ name: 'front' }] });
    expect(deletion(own, cart, inside)).toEqual([]);
    expect(deletion(gateway(httpListener), service('market/cart'), route('market/store', [cartRule]))).toEqual([]);
    expect(deletion()).toEqual([]);
  });

  test('of many objects is bounded', () => {
    const routes = Array.from({ length: 2_100 }, (_one, index) =>
      route(`shop/r${index}`, [cartRule], { hostnames: [`r${index}.example.com`] }),
    );
    const warnings = decide(webhookKernel(shop, gateway(httpListener), ...routes), {
      ...requestOf({ oldObject: shop }, { namespace: 'shop' }),
      budgetMs: 600_000,
    }).warnings;
    expect(warnings).toHaveLength(4);
    expect(warnings[3]).toMatch(/ deletes 2097 more routes of Gateways in other namespaces\.$/);
    for (const warning of warnings) expect(warning.length).toBeLessThanOrEqual(256);
  });
});

describe('a request without an effect', () => {
  const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]));
  const deleting = (object: Described) => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/wait'] },
  });

  test.each<[string, AdmissionRequest]>([
    ['a deletion without the old object', { ...requestOf({ oldObject: cart }), oldObject: undefined }],
    ['a deletion of what is deleted already', requestOf({ oldObject: deleting(cart) })],
    [
      'a change of what is being deleted',
      requestOf({ oldObject: deleting(cart), object: deleting(service('shop/cart', {})) }),
    ],
    ['a change without the new object', { ...requestOf({ oldObject: cart, object: cart }), object: undefined }],
    ['a creation', requestOf({ object: service('shop/cart', {}) })],
    ['another kind', { ...requestOf({ oldObject: cart }), kind: 'Pod' }],
    ['another group', { ...requestOf({ oldObject: cart }), group: 'example.com' }],
    ['no object', { ...requestOf({ oldObject: cart }), oldObject: 5 }],
  ])('%s', (_, request) => {
    expect(decide(kernel, request)).toEqual(nothing);
  });

  test('is one that the settings exempt', () => {
    const settings = { exemptions: { namespaces: ['shop'] } };
    expect(decide(kernel, requestOf({ oldObject: cart }), settings)).toEqual({
      ...nothing,
      auditAnnotations: { exempt: 'true' },
    });
  });
});

test('each object of a collection is named by the object itself', () => {
  const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]));
  expect(warningsFor(kernel, { oldObject: cart }, { name: '', dryRun: true })).toEqual([
    expect.stringContaining('Deleting Service shop/cart leaves HTTPRoute shop/store'),
  ]);
});

test('without time, the routes are not looked at', () => {
  const kernel = webhookKernel(gateway(httpListener), cart, route('shop/store', [cartRule]));
  expect(warningsFor(kernel, { oldObject: cart }, { budgetMs: 0 })).toEqual([]);
});
