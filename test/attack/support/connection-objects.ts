import { certificateObject, gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';
import type { LocalService } from '../../support/standalone-objects.ts';

/** Ports of listeners and backends, and what clients get over TLS (PEM). */
export interface ConnectionSetting {
  readonly plain: number;
  readonly secure: number;
  /** The backend that attackers reach. */
  readonly attacked: number;
  /** What it speaks, where it is not HTTP/1.1. */
  readonly appProtocol?: string;
  /** The backend of the host `calm.example`, which only ordinary clients ask for. */
  readonly calm: number;
  readonly certificate: string;
  readonly privateKey: string;
}

/** A Gateway with a listener for HTTP and one for HTTPS, and a route to each backend. */
export function connectionObjects({
  plain,
  secure,
  attacked,
  appProtocol,
  calm,
  certificate,
  privateKey,
}: ConnectionSetting): string {
  const listeners = [
    `{ name: http, port: ${plain}, protocol: HTTP }`,
    `{ name: https, port: ${secure}, protocol: HTTPS, tls: { certificateRefs: [{ name: web }] } }`,
  ];
  return `${gatewayObjects({ name: 'web', namespace: 'shop' }, ...listeners)}${certificateObject('web', { certificate, privateKey })}
${routeAndService('', { name: 'attacked', endpoint: attacked, ...(appProtocol === undefined ? {} : { appProtocol }) })}${routeAndService('hostnames: [calm.example]', { name: 'calm', endpoint: calm })}`;
}

function routeAndService(hostnames: string, service: LocalService): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${service.name}, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  ${hostnames}
  rules: [{ backendRefs: [{ name: ${service.name}, port: 80 }] }]
${serviceObjects(service)}`;
}
