import type { KubernetesObject, ResourceType } from '../../../src/kubernetes/index.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';

export const httpRoutes: ResourceType = {
  apiVersion: gatewayApi,
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
};
export const gateways: ResourceType = { apiVersion: gatewayApi, kind: 'Gateway', plural: 'gateways', namespaced: true };

export const gatewayName = 'web';

/** @param className a GatewayClass of another controller; ours if omitted */
export function gateway(namespace: string, className = 'sallyport'): KubernetesObject {
  return {
    apiVersion: gatewayApi,
    kind: 'Gateway',
    metadata: { name: gatewayName, namespace },
    spec: { gatewayClassName: className, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  };
}

export function routeName(number: number): string {
  return `route-${number}`;
}

/** The host that a route serves, and no other one. */
export function hostOf(number: number): string {
  return `h${number}.bench.example`;
}

/** One of the routes. All are served by one backend, and say in their answers of which version they are. */
export function route(namespace: string, number: number, version = '1'): KubernetesObject {
  return {
    metadata: { name: routeName(number), namespace },
    spec: { parentRefs: [{ name: gatewayName }], hostnames: [hostOf(number)], rules: rulesOf(version) },
  };
}

/** The header that tells the version. */
export const versionHeader = 'x-version';

export function rulesOf(version: string): readonly object[] {
  return [
    {
      matches: [{ path: { type: 'PathPrefix', value: '/' } }],
      filters: [
        { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: versionHeader, value: version }] } },
      ],
      backendRefs: [{ name: 'backend', port: 80 }],
    },
  ];
}

const program = "require('node:http').createServer((request, response) => response.end('ok')).listen(8080)";

/** A backend that costs little, made of the program's own image: no other one has to be there. */
export function backend(namespace: string, image: string): readonly KubernetesObject[] {
  const labels = { app: 'backend' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'backend', namespace },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'backend', namespace, labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'backend',
            image,
            imagePullPolicy: 'IfNotPresent',
            command: ['/nodejs/bin/node', '-e', program],
            readinessProbe: { tcpSocket: { port: 8080 } },
            resources: { requests: { cpu: '100m' } },
          },
        ],
      },
    },
  ];
}
