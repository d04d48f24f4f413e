/** Objects for `sallyport run` and `explain` as YAML documents, in the namespace `shop` unless told otherwise. */

/** A Service and its only endpoint, on loopback. */
export interface LocalService {
  readonly name: string;
  readonly namespace?: string;
  /** Of the Service; 80 unless given. */
  readonly port?: number;
  /** Where the backend listens. */
  readonly endpoint: number;
  readonly appProtocol?: string;
  /** `TCP` unless given. */
  readonly protocol?: 'TCP' | 'UDP';
}

/** Begins with a separator. */
export function serviceObjects({ name, namespace = 'shop', port = 80, ...service }: LocalService): string {
  const { endpoint, appProtocol, protocol = 'TCP' } = service;
  const protocols = `protocol: ${protocol}${appProtocol === undefined ? '' : `, appProtocol: ${appProtocol}`}`;
  return `
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: ${namespace} }
spec: { ports: [{ name: main, port: ${port}, ${protocols} }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: ${namespace}, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ name: main, port: ${endpoint}, ${protocols} }]
endpoints: [{ addresses: [127.0.0.1] }]
`;
}

/** A GatewayClass of ours and a Gateway of it; `listeners` are the entries of its list. */
export function gatewayObjects(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  ...listeners: readonly string[]
): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: test }
spec: { controllerName: sallyport.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  gatewayClassName: test
  listeners: [${listeners.join(', ')}]
`;
}

/** The Secret `name` with a certificate and its key (PEM). Begins with a separator. */
export function certificateObject(
  name: string,
  { certificate, privateKey }: { readonly certificate: string; readonly privateKey: string },
  namespace = 'shop',
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return `
---
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: { name: ${name}, namespace: ${namespace} }
data: { tls.crt: ${base64(certificate)}, tls.key: ${base64(privateKey)} }
`;
}
