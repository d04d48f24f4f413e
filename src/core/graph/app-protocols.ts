/** What ports of Services may speak (`appProtocol`; KEP-3726, GEP-1911). */
const appProtocols: Readonly<Record<string, { readonly routeKinds: readonly string[]; readonly http2: boolean; readonly tls?: true }>> = {
  http: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false },
  'kubernetes.io/http': { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false },
  'kubernetes.io/ws': { routeKinds: ['HTTPRoute'], http2: false },
  'kubernetes.io/h2c': { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: true },
  https: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: false, tls: true },
  'kubernetes.io/wss': { routeKinds: ['HTTPRoute'], http2: false, tls: true },
  // Registered nowhere, and written for what speaks gRPC all the same.
  grpc: { routeKinds: ['HTTPRoute', 'GRPCRoute'], http2: true },
};

/** Whether routes of that kind can be forwarded to a port that speaks this; IANA's names ignore case. */
export function canForward(routeKind: string, appProtocol: string): boolean {
  return appProtocolNamed(appProtocol)?.routeKinds.includes(routeKind) === true;
}

/** Whether a port that speaks this expects HTTP/2 from the first byte. */
export function startsWithHttp2(appProtocol: string): boolean {
  return appProtocolNamed(appProtocol)?.http2 === true;
}

/** Whether a port that speaks this expects TLS, so that somebody has to say how its certificates are checked. */
export function needsTls(appProtocol: string): boolean {
  return appProtocolNamed(appProtocol)?.tls === true;
}

function appProtocolNamed(name: string) {
  const key = name.toLowerCase();
  return Object.hasOwn(appProtocols, key) ? appProtocols[key] : undefined;
}
