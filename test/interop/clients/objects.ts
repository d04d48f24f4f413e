import type { CertificateMaterial } from '../../../src/certificates/source.ts';
import { certificateObject, gatewayObjects } from '../../support/standalone-objects.ts';
import { service } from '../objects.ts';

/** Ports on loopback; `grpc` where an interop server runs. */
export interface Ports {
  readonly http: number;
  readonly https: number;
  readonly backend: number;
  readonly grpc: number | undefined;
}

/** The Gateway `front` with HTTP and HTTPS, an HTTPRoute for everything, and a GRPCRoute for the interop service. */
export function clientObjects({ http, https, backend, grpc }: Ports, material: CertificateMaterial): string {
  const listeners = [
    `{ name: http, port: ${http}, protocol: HTTP }`,
    `{ name: https, port: ${https}, protocol: HTTPS, tls: { certificateRefs: [{ name: front }] } }`,
  ];
  return `${gatewayObjects({ name: 'front', namespace: 'shop' }, ...listeners)}${certificateObject('front', material)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: echo, namespace: shop }
spec:
  parentRefs: [{ name: front }]
  rules: [{ backendRefs: [{ name: echo, port: ${backend} }] }]
${service('echo', backend)}${grpc === undefined ? '' : `${grpcRoute(grpc)}${service('interop', grpc)}`}`;
}

function grpcRoute(port: number): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: interop, namespace: shop }
spec:
  parentRefs: [{ name: front }]
  rules: [{ matches: [{ method: { service: grpc.testing.TestService } }, { method: { service: grpc.testing.UnimplementedService } }], backendRefs: [{ name: interop, port: ${port} }] }]
`;
}
