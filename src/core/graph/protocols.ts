import { gatewayGroup } from './inputs.ts';

export interface RouteKind {
  readonly group: string;
  readonly kind: string;
}

/** The protocol that carries a listener's traffic; ports of different transports are different ports. */
export type Transport = 'TCP' | 'UDP';

interface ProtocolTraits {
  readonly routeKinds: readonly ServedRouteKind[];
  readonly transport: Transport;
  /** Whether a listener terminates TLS; `byMode`: tls.mode says so. */
  readonly tls: 'always' | 'byMode' | 'never';
}

/** The listener protocols that are served. New protocols are rows here. */
const served = {
  HTTP: { routeKinds: ['HTTPRoute', 'GRPCRoute'], transport: 'TCP', tls: 'never' },
  HTTPS: { routeKinds: ['HTTPRoute', 'GRPCRoute'], transport: 'TCP', tls: 'always' },
  TLS: { routeKinds: ['TLSRoute'], transport: 'TCP', tls: 'byMode' },
  TCP: { routeKinds: ['TCPRoute'], transport: 'TCP', tls: 'never' },
  UDP: { routeKinds: ['UDPRoute'], transport: 'UDP', tls: 'never' },
} as const satisfies Readonly<Record<string, ProtocolTraits>>;

export type ServedProtocol = keyof typeof served;

/** Route kinds that choose by the contents of requests. */
export const requestRouteKinds = ['HTTPRoute', 'GRPCRoute'] as const;
export type RequestRouteKind = (typeof requestRouteKinds)[number];

/** Route kinds that forward connections or datagrams as they come. */
export const layer4RouteKinds = ['TLSRoute', 'TCPRoute', 'UDPRoute'] as const;
export type Layer4RouteKind = (typeof layer4RouteKinds)[number];

/** Every route kind that is served by some protocol. */
export const servedRouteKinds = [...requestRouteKinds, ...layer4RouteKinds] as const;
export type ServedRouteKind = (typeof servedRouteKinds)[number];

/** Whether routes of this kind forward connections or datagrams as they come. */
export function isLayer4(kind: string): kind is Layer4RouteKind {
  return (layer4RouteKinds as readonly string[]).includes(kind);
}

/** What a route forwards, and what becomes of it where the route cannot serve it although it should. */
interface Failure {
  /** A plural. */
  readonly traffic: string;
  /** A participle: "the requests are answered with 500". */
  readonly fate: string;
}

/** For messages. */
export const failureOf: Readonly<Record<ServedRouteKind, Failure>> = {
  HTTPRoute: { traffic: 'requests', fate: 'answered with 500' },
  GRPCRoute: { traffic: 'requests', fate: 'answered with UNAVAILABLE' },
  TLSRoute: { traffic: 'connections', fate: 'reset' },
  TCPRoute: { traffic: 'connections', fate: 'reset' },
  UDPRoute: { traffic: 'datagrams', fate: 'dropped' },
};

/** The transport of the Service ports that routes of a kind forward to. */
export function transportOf(routeKind: string): Transport {
  return routeKind === 'UDPRoute' ? 'UDP' : 'TCP';
}

/** Whether listeners of this protocol are served. */
export function isServedProtocol(protocol: string): protocol is ServedProtocol {
  return Object.hasOwn(served, protocol);
}

/** The served route kinds of a protocol, `undefined` for a protocol that is not served. */
export function routeKindsOf(protocol: string): readonly RouteKind[] | undefined {
  return isServedProtocol(protocol) ? served[protocol].routeKinds.map((kind) => ({ group: gatewayGroup, kind })) : undefined;
}

export function servedProtocols(): readonly string[] {
  return Object.keys(served);
}

/** The transport of a protocol, `undefined` for a protocol that is not served. */
export function transportOfProtocol(protocol: string): Transport | undefined {
  return isServedProtocol(protocol) ? served[protocol].transport : undefined;
}

/** The parts of a listener that say whether it terminates TLS. */
export interface TlsTerms {
  readonly protocol: string;
  /** tls.mode; absent: Terminate, as the CRDs fill in. */
  readonly tlsMode?: string | undefined;
}

/** Whether a listener terminates TLS, and needs a certificate for it (Listener.tls, ListenerTLSConfig.mode). */
export function terminatesTls({ protocol, tlsMode = 'Terminate' }: TlsTerms): boolean {
  if (!isServedProtocol(protocol)) return false;
  const { tls } = served[protocol];
  return tls === 'always' || (tls === 'byMode' && tlsMode === 'Terminate');
}
