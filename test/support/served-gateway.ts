import type { WireObject } from '../../src/controller/index.ts';

export const controllerName = 'example.com/us';

export const gatewayClass: WireObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'ours', generation: 1 },
  spec: { controllerName },
};
export const gateway: WireObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { namespace: 'shop', name: 'web', uid: 'u', generation: 3 },
  spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
};
export const service: WireObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    namespace: 'shop',
    name: 'web-sallyport',
    labels: { 'app.kubernetes.io/managed-by': 'sallyport' },
    ownerReferences: [{ kind: 'Gateway', name: 'web', controller: true }],
  },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
};

export const slice: WireObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'shop',
    name: 'web-sallyport-x',
    labels: { 'app.kubernetes.io/managed-by': 'sallyport', 'kubernetes.io/service-name': 'web-sallyport' },
  },
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'in-process' } }],
};
