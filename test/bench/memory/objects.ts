import { loadAll } from 'js-yaml';
import { crdManifests } from '../../cluster/crd-manifests.ts';
import { installation } from '../../support/evaluation.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';
const routesPerService = 10;

export const namespaces = ['shop', 'infra', 'sallyport-system'];
export const gatewayName = 'infra/front';

/** The CustomResourceDefinitions of the newest standard bundle, as an API server holds them. */
export function definitions(): readonly object[] {
  return loadAll(crdManifests('v1.7.0', 'standard'))
    .filter((document) => (document as { readonly kind?: string } | null)?.kind === 'CustomResourceDefinition')
    .map((definition) => ({
      ...(definition as object),
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    }));
}

/** One class, one Gateway, and HTTPRoutes with one hostname, one rule and one filter each. Ten routes share a Service. */
export function gatewayObjects(routes: number): readonly object[] {
  const services = Math.ceil(routes / routesPerService);
  return [
    {
      apiVersion: gatewayApi,
      kind: 'GatewayClass',
      metadata: { name: 'sallyport' },
      spec: { controllerName: installation.controllerName },
    },
    {
      apiVersion: gatewayApi,
      kind: 'Gateway',
      metadata: { name: 'front', namespace: 'infra' },
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }],
      },
    },
    ...Array.from({ length: services }, (_, number) => [service(number), slice(number)]).flat(),
    ...Array.from({ length: routes }, (_, number) => route(number)),
  ];
}

function service(number: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `service-${number}`, namespace: 'shop' },
    spec: { selector: { app: `app-${number}` }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

function slice(number: number): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `service-${number}`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': `service-${number}` },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: [`10.1.${(number >> 8) & 255}.${number & 255}`], conditions: { ready: true } }],
  };
}

/** The HTTPRoute with this number. */
export function route(number: number): object {
  return {
    apiVersion: gatewayApi,
    kind: 'HTTPRoute',
    metadata: { name: `route-${number}`, namespace: 'shop' },
    spec: {
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front', namespace: 'infra' }],
      hostnames: [`h${number}.bench.example`],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          filters: [
            {
              type: 'ResponseHeaderModifier',
              responseHeaderModifier: { set: [{ name: 'x-version', value: String(number) }] },
            },
          ],
          backendRefs: [
            {
              group: '',
              kind: 'Service',
              name: `service-${Math.floor(number / routesPerService)}`,
              port: 80,
              weight: 1,
            },
          ],
        },
      ],
    },
  };
}

/** Objects of the installation that the webhook and the watchdog read. */
export function webhookObjects(): readonly object[] {
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'sallyport-webhook' },
      webhooks: [
        {
          name: 'validate.gateway.sallyport.dev',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'sallyport-system', name: 'sallyport-webhook', path: '/validate' } },
          failurePolicy: 'Ignore',
          sideEffects: 'None',
        },
      ],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'sallyport-webhook',
        namespace: 'sallyport-system',
        labels: { 'kubernetes.io/service-name': 'sallyport-webhook' },
      },
      addressType: 'IPv4',
      ports: [{ port: 10_250 }],
      endpoints: ['10.2.0.1', '10.2.0.2'].map((address) => ({ addresses: [address], conditions: { ready: true } })),
    },
  ];
}
