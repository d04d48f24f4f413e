import { configMap, endpointSlice, namespace, secret, service } from './tables/core.ts';
import { gatewayClass } from './tables/gateway-class.ts';
import { gateway } from './tables/gateway.ts';
import { httpRoute } from './tables/http-route.ts';
import { referenceGrant } from './tables/reference-grant.ts';
import type { View } from './view.ts';

/** The kinds that are evaluated, each with its table. */
export const tables = {
  GatewayClass: gatewayClass,
  Gateway: gateway,
  HTTPRoute: httpRoute,
  ReferenceGrant: referenceGrant,
  Service: service,
  EndpointSlice: endpointSlice,
  Namespace: namespace,
  Secret: secret,
  ConfigMap: configMap,
} as const;

export type KindName = keyof typeof tables;

/** The fields of an object of kind `K` beside apiVersion, kind and metadata, as a tolerant reader sees them. */
export type ViewOf<K extends KindName> = View<(typeof tables)[K]['body']>;

/** A kind and the resource it is stored as. */
export interface KindEntry {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const standardGroup = 'gateway.networking.k8s.io';
const experimentalGroup = 'gateway.networking.x-k8s.io';

/** The other kinds that some release of the Gateway API brought: known by name, not evaluated. */
export const knownKinds: readonly KindEntry[] = [
  { group: standardGroup, kind: 'GRPCRoute', plural: 'grpcroutes', namespaced: true },
  { group: standardGroup, kind: 'TLSRoute', plural: 'tlsroutes', namespaced: true },
  { group: standardGroup, kind: 'TCPRoute', plural: 'tcproutes', namespaced: true },
  { group: standardGroup, kind: 'UDPRoute', plural: 'udproutes', namespaced: true },
  { group: standardGroup, kind: 'BackendTLSPolicy', plural: 'backendtlspolicies', namespaced: true },
  { group: standardGroup, kind: 'BackendLBPolicy', plural: 'backendlbpolicies', namespaced: true },
  { group: standardGroup, kind: 'ListenerSet', plural: 'listenersets', namespaced: true },
  { group: experimentalGroup, kind: 'XListenerSet', plural: 'xlistenersets', namespaced: true },
  { group: experimentalGroup, kind: 'XBackend', plural: 'xbackends', namespaced: true },
  { group: experimentalGroup, kind: 'XBackendTrafficPolicy', plural: 'xbackendtrafficpolicies', namespaced: true },
  { group: experimentalGroup, kind: 'XMesh', plural: 'xmeshes', namespaced: false },
  { group: experimentalGroup, kind: 'XTelemetryPolicy', plural: 'xtelemetrypolicies', namespaced: true },
];

const entries: ReadonlyMap<string, KindEntry> = new Map(
  [...Object.values(tables), ...knownKinds].map((entry) => [`${entry.group}/${entry.kind}`, entry]),
);

/** The entry of a kind that is evaluated or at least known; `undefined` for everybody else's kinds. */
export function findKind(group: string, kind: string): KindEntry | undefined {
  return entries.get(`${group}/${kind}`);
}

/** Whether a kind of ours goes by this name. The group is not looked at: ask `findKind` first. */
export function isKindName(kind: string): kind is KindName {
  return Object.hasOwn(tables, kind);
}
