import { isOwnerKind } from '../listeners/listener-sets.ts';
import { isLayer4 } from '../protocols.ts';

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
  return appProtocolNamed(appProtocol)?.routeKinds.includes(routeKindFor(fromKind)) === true;
}

/** The authorization servers of listeners are called like backends of HTTPRoutes. */
function routeKindFor(fromKind: string): string {
  return isOwnerKind(fromKind) ? 'HTTPRoute' : fromKind;
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

/** The supported values of `protocol` of XBackends (BackendProtocol), and the HTTP version that they require. */
const backendProtocols: Readonly<
  Record<string, { readonly routeKinds: readonly string[]; readonly version?: HttpVersion }>
> = {
  HTTP: { routeKinds: ['HTTPRoute', 'GRPCRoute'] },
  HTTP11: { routeKinds: ['HTTPRoute'], version: '1.1' },
  HTTP2: { routeKinds: ['HTTPRoute', 'GRPCRoute'], version: '2' },
  H2C: { routeKinds: ['HTTPRoute', 'GRPCRoute'], version: '2' },
  GRPC: { routeKinds: ['HTTPRoute', 'GRPCRoute'], version: '2' },
  WSS: { routeKinds: ['HTTPRoute'], version: '1.1' },
  TCP: { routeKinds: [] },
};

export type HttpVersion = '1.1' | '2';

/** The supported values of `protocol` of XBackends. */
export const backendProtocolNames: readonly string[] = Object.keys(backendProtocols);

/**
 * Returns whether an XBackend with this `protocol` can serve what a route, or a filter of a listener, sends over TCP. Routes of
 * layer 4 forward any protocol.
 *
 * @param fromKind the kind of the object that refers to the XBackend
 */
export function carries(protocol: string, fromKind: string): boolean {
  const found = backendProtocolNamed(protocol);
  return found !== undefined && (isLayer4(fromKind) || found.routeKinds.includes(routeKindFor(fromKind)));
}

/** Returns the HTTP version that the `protocol` of an XBackend requires; `undefined`: any. */
export function httpVersionOf(protocol: string): HttpVersion | undefined {
  return backendProtocolNamed(protocol)?.version;
}

function backendProtocolNamed(name: string) {
  return Object.hasOwn(backendProtocols, name) ? backendProtocols[name] : undefined;
}
