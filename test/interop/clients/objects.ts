import type { CertificateMaterial } from '../../../src/certificates/source.ts';
import { service } from '../objects.ts';

/** Ports on loopback; `grpc` where an interop server runs. */
export interface Ports {
  readonly http: number;
  readonly https: number;
  readonly backend: number;
  readonly grpc: number | undefined;
}

/** The Gateway `front` with HTTP and HTTPS, an HTTPRoute for everything, and a GRPCRoute for the interop service. */
export function clientObjects({ http, https, backend, grpc }: Ports, { certificate, privateKey }: CertificateMaterial): string {
  const pem = (text: string): string => Buffer.from(text).toString('base64');
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: sallyport }
spec: { controllerName: sallyport.dev/gateway-controller }
---
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: { name: front, namespace: shop }
data: { tls.crt: ${pem(certificate)}, tls.key: ${pem(privateKey)} }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front, namespace: shop }
spec:
  gatewayClassName: sallyport
  listeners:
  - { name: http, port: ${http}, protocol: HTTP }
  - { name: https, port: ${https}, protocol: HTTPS, tls: { certificateRefs: [{ name: front }] } }
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
