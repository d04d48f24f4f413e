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
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: test }
spec: { controllerName: sallyport.dev/gateway-controller }
---
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: { name: web, namespace: shop }
data: { tls.crt: ${base64(certificate)}, tls.key: ${base64(privateKey)} }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec:
  gatewayClassName: test
  listeners:
  - { name: http, port: ${plain}, protocol: HTTP }
  - { name: https, port: ${secure}, protocol: HTTPS, tls: { certificateRefs: [{ name: web }] } }
${routeAndService('attacked', '', attacked)}${routeAndService('calm', 'hostnames: [calm.example]', calm)}`;
}

function routeAndService(name: string, hostnames: string, port: number): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  ${hostnames}
  rules: [{ backendRefs: [{ name: ${name}, port: 80 }] }]
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: shop, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ port: ${port} }]
endpoints: [{ addresses: ["127.0.0.1"] }]
`;
}
