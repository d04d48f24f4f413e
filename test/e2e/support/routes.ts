/** An HTTPRoute as a manifest. */
export function httpRoute(metadata: { readonly name: string; readonly namespace: string; readonly finalizers?: readonly string[] }, spec: object, version: string = 'v1'): object {
  return { apiVersion: `gateway.networking.k8s.io/${version}`, kind: 'HTTPRoute', metadata, spec };
}
