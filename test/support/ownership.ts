// Classes and Gateways of several controllers.

/** A GatewayClass of a controller; its status lists features where some are given. */
export function gatewayClass(name: string, controllerName: string, features: readonly string[] = []): object {
  const status =
    features.length === 0 ? {} : { status: { supportedFeatures: features.map((feature) => ({ name: feature })) } };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name },
    spec: { controllerName },
    ...status,
  };
}

/** A Gateway in the namespace shop that has the name of its class. */
export function gatewayOf(className: string): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: className, namespace: 'shop' },
    spec: { gatewayClassName: className, listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] },
  };
}
