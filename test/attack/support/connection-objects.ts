import { certificateObject, gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';

/** Ports of listeners and backends, and what clients get over TLS (PEM). */
export interface ConnectionSetting {
  readonly plain: number;
  readonly secure: number;
  /** The backend that attackers reach. */
  readonly attacked: number;
  /** The backend of the host `calm.example`, which only ordinary clients ask for. */
  readonly calm: number;
  readonly certificate: string;
  readonly privateKey: string;
}

/** A Gateway with a listener for HTTP and one for HTTPS, and a route to each backend. */
export function connectionObjects({ plain, secure, attacked, calm, certificate, privateKey }: ConnectionSetting): string {
  const listeners = [
    `{ name: http, port: ${plain}, protocol: HTTP }`,
    `{ name: https, port: ${secure}, protocol: HTTPS, tls: { certificateRefs: [{ name: web }] } }`,
  ];
  return `${gatewayObjects({ name: 'web', namespace: 'shop' }, ...listeners)}${certificateObject('web', { certificate, privateKey })}
${routeAndService('attacked', '', attacked)}${routeAndService('calm', 'hostnames: [calm.example]', calm)}`;
}

function routeAndService(name: string, hostnames: string, endpoint: number): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  ${hostnames}
  rules: [{ backendRefs: [{ name: ${name}, port: 80 }] }]
${serviceObjects({ name, endpoint })}`;
}
