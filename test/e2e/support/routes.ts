/** A backend that routes may name where nothing shall be wrong with them but what is meant. */
export const backend = { name: 'backend', port: 80 };

/** A Service as a manifest: that backend unless told. */
export function service(namespace: string, name: string = backend.name): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports: [{ port: 80 }] } };
}

/** An HTTPRoute as a manifest. */
export function httpRoute(
  metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  },
  spec: object,
  version: string = 'v1',
): object {
  return { apiVersion: `gateway.networking.k8s.io/${version}`, kind: 'HTTPRoute', metadata, spec };
}

/** A GRPCRoute as a manifest. */
export function grpcRoute(metadata: { readonly name: string; readonly namespace: string }, spec: object): object {
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GRPCRoute', metadata, spec };
}
