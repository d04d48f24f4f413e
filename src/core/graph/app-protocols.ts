import { isOwnerKind } from './listener-sets.ts';

/** The supported values of `appProtocol` of Service ports (KEP-3726, GEP-1911). */
const appProtocols: Readonly<
  Record<string, { readonly routeKinds: readonly string[]; readonly http2: boolean; readonly tls?: true }>
> = {
  http: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false },
  'kubernetes.io/http': { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false },
  'kubernetes.io/ws': { routeKinds: ['HTTPRoute'], http2: false },
  'kubernetes.io/h2c': { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: true },
  https: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false, tls: true },
  'kubernetes.io/wss': { routeKinds: ['HTTPRoute'], http2: false, tls: true },
  // Not registered, but commonly used for gRPC.
  grpc: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: true },
};

/**
 * Returns whether requests of a route, or of a filter of a listener, can be sent to a port with this appProtocol. IANA's names are
 * case-insensitive.
 *
 * @param fromKind the kind of the object that refers to the port
 */
export function canForward(fromKind: string, appProtocol: string): boolean {
  // The authorization servers of listeners are called like backends of HTTPRoutes.
  const routeKind = isOwnerKind(fromKind) ? 'HTTPRoute' : fromKind;
  return appProtocolNamed(appProtocol)?.routeKinds.includes(routeKind) === true;
}

/** Returns whether a port with this appProtocol expects HTTP/2 with prior knowledge. */
export function startsWithHttp2(appProtocol: string): boolean {
  return appProtocolNamed(appProtocol)?.http2 === true;
}

/** Returns whether a port with this appProtocol expects TLS, so that a policy must define how to verify its certificates. */
export function needsTls(appProtocol: string): boolean {
  return appProtocolNamed(appProtocol)?.tls === true;
}

function appProtocolNamed(name: string) {
  const key = name.toLowerCase();
  return Object.hasOwn(appProtocols, key) ? appProtocols[key] : undefined;
}
