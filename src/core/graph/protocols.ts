import { gatewayGroup } from '../schema/index.ts';
import { listenerTlsMode } from '../semantics/intended.ts';

export interface RouteKind {
  readonly group: string;
  readonly kind: string;
}

/** The transport protocol of a listener. Ports with different transports are different ports. */
export type Transport = 'TCP' | 'UDP';

interface ProtocolTraits {
  readonly routeKinds: readonly ServedRouteKind[];
  readonly transport: Transport;
  /** Whether a listener terminates TLS; `byMode`: tls.mode decides. */
  readonly tls: 'always' | 'byMode' | 'never';
}

/** The supported listener protocols. To support another protocol, add a row. */
const served = {
  HTTP: { routeKinds: ['HTTPRoute', 'GRPCRoute'], transport: 'TCP', tls: 'never' },
  HTTPS: { routeKinds: ['HTTPRoute', 'GRPCRoute'], transport: 'TCP', tls: 'always' },
  TLS: { routeKinds: ['TLSRoute'], transport: 'TCP', tls: 'byMode' },
  TCP: { routeKinds: ['TCPRoute'], transport: 'TCP', tls: 'never' },
  UDP: { routeKinds: ['UDPRoute'], transport: 'UDP', tls: 'never' },
} as const satisfies Readonly<Record<string, ProtocolTraits>>;

export type ServedProtocol = keyof typeof served;

/** Route kinds that match requests. */
export const requestRouteKinds = ['HTTPRoute', 'GRPCRoute'] as const;
export type RequestRouteKind = (typeof requestRouteKinds)[number];

/** Route kinds that forward connections or datagrams unchanged. */
export const layer4RouteKinds = ['TLSRoute', 'TCPRoute', 'UDPRoute'] as const;
export type Layer4RouteKind = (typeof layer4RouteKinds)[number];

/** All supported route kinds. */
export const servedRouteKinds = [...requestRouteKinds, ...layer4RouteKinds] as const;
export type ServedRouteKind = (typeof servedRouteKinds)[number];

/** Returns whether routes of this kind forward connections or datagrams unchanged. */
export function isLayer4(kind: string): kind is Layer4RouteKind {
  return (layer4RouteKinds as readonly string[]).includes(kind);
}

/** Returns whether routes of this kind are selected by hostname. */
export function servesHostnames(kind: string): boolean {
  return kind !== 'TCPRoute' && kind !== 'UDPRoute';
}

/** The traffic of a route kind, and the result if a route cannot serve it. */
interface Failure {
  /** A plural noun. */
  readonly traffic: string;
  /** A participle: "the requests are answered with 500". */
  readonly fate: string;
}

/** Words for messages. */
export const failureOf: Readonly<Record<ServedRouteKind, Failure>> = {
  HTTPRoute: { traffic: 'requests', fate: 'answered with 500' },
  GRPCRoute: { traffic: 'requests', fate: 'answered with UNAVAILABLE' },
  TLSRoute: { traffic: 'connections', fate: 'reset' },
  TCPRoute: { traffic: 'connections', fate: 'reset' },
  UDPRoute: { traffic: 'datagrams', fate: 'dropped' },
};

/** Returns the transport of the Service ports that routes of a kind forward to. */
export function transportOf(routeKind: string): Transport {
  return routeKind === 'UDPRoute' ? 'UDP' : 'TCP';
}

/** Returns whether the listener protocol is supported. */
export function isServedProtocol(protocol: string): protocol is ServedProtocol {
  return Object.hasOwn(served, protocol);
}

/** Returns the supported route kinds of a protocol; `undefined` for an unsupported protocol. */
export function routeKindsOf(protocol: string): readonly RouteKind[] | undefined {
  return isServedProtocol(protocol)
    ? served[protocol].routeKinds.map((kind) => ({ group: gatewayGroup, kind }))
    : undefined;
}

export function servedProtocols(): readonly string[] {
  return Object.keys(served);
}

/** Returns the transport of a protocol; `undefined` for an unsupported protocol. */
export function transportOfProtocol(protocol: string): Transport | undefined {
  return isServedProtocol(protocol) ? served[protocol].transport : undefined;
}

/** The fields of a listener that determine whether it terminates TLS. */
export interface TlsTerms {
  readonly protocol: string;
  /** tls.mode; absent: Terminate, the default of the CRDs. */
  readonly tlsMode?: string | undefined;
}

/** Returns whether a listener terminates TLS and therefore needs a certificate (Listener.tls, ListenerTLSConfig.mode). */
export function terminatesTls({ protocol, tlsMode }: TlsTerms): boolean {
  if (!isServedProtocol(protocol)) return false;
  const { tls } = served[protocol];
  return tls === 'always' || (tls === 'byMode' && listenerTlsMode({ mode: tlsMode }) === 'Terminate');
}
