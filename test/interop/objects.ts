import type { Target } from '../attack/support/target.ts';

/** A GatewayClass and the Gateway `front` with a listener for HTTP on this port, for `sallyport run`. */
export function gateway(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: sallyport }
spec: { controllerName: sallyport.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front, namespace: shop }
spec: { gatewayClassName: sallyport, listeners: [{ name: http, port: ${port}, protocol: HTTP }] }
`;
}

/** A Service with one endpoint on loopback, whose port is also that of the Service. */
export function service(name: string, port: number): string {
  return `
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { ports: [{ name: main, port: ${port} }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: shop, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: main, port: ${port}, protocol: TCP }]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
`;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where the Gateway `front` is served, which has a loopback address of its own. */
export function addressOfGateway(target: Target): Address {
  const { host, port } = /shop\/front http +http:\/\/(?<host>[^:]+):(?<port>\d+)/.exec(target.output())?.groups ?? {};
  if (host === undefined) throw new Error(`no address found in:\n${target.output()}`);
  return { host, port: Number(port) };
}
