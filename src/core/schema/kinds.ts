import { backendTlsPolicy } from './tables/backend-tls-policy.ts';
import { clusterTrustBundle, configMap, endpointSlice, namespace, secret, service } from './tables/core.ts';
import { gatewayClass } from './tables/gateway-class.ts';
import { gateway } from './tables/gateway.ts';
import { grpcRoute } from './tables/grpc-route.ts';
import { hostnamePolicy } from './tables/hostname-policy.ts';
import { httpRoute } from './tables/http-route.ts';
import { listenerSet, xListenerSet } from './tables/listener-sets.ts';
import { referenceGrant } from './tables/reference-grant.ts';
import { serviceImport } from './tables/service-import.ts';
import { tcpRoute, udpRoute } from './tables/stream-routes.ts';
import type { KindTable } from './tables/table.ts';
import { tlsRoute } from './tables/tls-route.ts';
import { backendLbPolicy, xBackendTrafficPolicy } from './tables/traffic-policies.ts';
import { xBackend } from './tables/x-backend.ts';
import { xMesh } from './tables/x-mesh.ts';
import { xTelemetryPolicy } from './tables/x-telemetry-policy.ts';
import type { At, View } from './view.ts';

/** The evaluated kinds with their tables. */
export const tables = {
  GatewayClass: gatewayClass,
  Gateway: gateway,
  ListenerSet: listenerSet,
  HTTPRoute: httpRoute,
  GRPCRoute: grpcRoute,
  TLSRoute: tlsRoute,
  TCPRoute: tcpRoute,
  UDPRoute: udpRoute,
  BackendTLSPolicy: backendTlsPolicy,
  XBackendTrafficPolicy: xBackendTrafficPolicy,
  XTelemetryPolicy: xTelemetryPolicy,
  ReferenceGrant: referenceGrant,
  HostnamePolicy: hostnamePolicy,
  Service: service,
  ServiceImport: serviceImport,
  XBackend: xBackend,
  EndpointSlice: endpointSlice,
  Namespace: namespace,
  Secret: secret,
  ConfigMap: configMap,
  ClusterTrustBundle: clusterTrustBundle,
} as const;

export type KindName = keyof typeof tables;

/** All kinds with a schema: those of all Gateway API releases, evaluated or not, and Kubernetes' own. */
export const schemaTables = {
  ...tables,
  BackendLBPolicy: backendLbPolicy,
  XListenerSet: xListenerSet,
  XMesh: xMesh,
} as const;

export type SchemaKind = keyof typeof schemaTables;

/** The fields of an object of kind `K` besides apiVersion, kind and metadata, as a tolerant reader sees them. */
export type ViewOf<K extends KindName> = View<(typeof tables)[K]['body']>;

/** The value at a location of an object of kind `K`: `ViewAt<'HTTPRoute', 'spec.rules[].filters[]'>`. */
export type ViewAt<K extends KindName, P extends string> = At<ViewOf<K>, P>;

/** A kind and its resource name in the API. */
export interface KindEntry {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The other kinds of some Gateway API release: known, with a schema, but not evaluated. */
export const knownKinds: readonly KindEntry[] = Object.values<KindTable>(schemaTables).filter(
  ({ kind }) => !Object.hasOwn(tables, kind),
);

const entries: ReadonlyMap<string, KindEntry> = new Map(
  Object.values<KindTable>(schemaTables).map((entry) => [`${entry.group}/${entry.kind}`, entry]),
);

/** The entry of a kind with a schema, evaluated or not; `undefined` for all other kinds. */
export function findKind(group: string, kind: string): KindEntry | undefined {
  return entries.get(`${group}/${kind}`);
}

/** The names of the kinds with a schema, by group. */
export const kindsByGroup: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Map.groupBy(Object.values<KindTable>(schemaTables), ({ group }) => group)
    .entries()
    .map(([group, kinds]) => [group, new Set(kinds.map(({ kind }) => kind))]),
);

/** Whether an evaluated kind has this name. Ignores the group: call `findKind` first. */
export function isKindName(kind: string): kind is KindName {
  return Object.hasOwn(tables, kind);
}

/** Whether a kind with a schema has this name. Ignores the group as well. */
export function isSchemaKind(kind: string): kind is SchemaKind {
  return Object.hasOwn(schemaTables, kind);
}
