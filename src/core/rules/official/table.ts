import type { Bundle, SchemaKind } from '../../schema/index.ts';
import { gatewaySites, listenerSetSites, xListenerSetSites } from './gateways.ts';
import { backendLbPolicySites, backendTlsPolicySites, xBackendSites, xBackendTrafficPolicySites, xTelemetryPolicySites } from './policies.ts';
import { grpcRouteSites, httpRouteSites, streamRouteSites, tlsRouteSites } from './routes.ts';
import { kindsByRule, sitesIn, type Site, type SiteTables } from './sites.ts';

/** Kinds that are not here are judged by their schema alone. */
export const officialTables: SiteTables = {
  BackendLBPolicy: backendLbPolicySites,
  BackendTLSPolicy: backendTlsPolicySites,
  Gateway: gatewaySites,
  GRPCRoute: grpcRouteSites,
  HTTPRoute: httpRouteSites,
  ListenerSet: listenerSetSites,
  TCPRoute: streamRouteSites,
  TLSRoute: tlsRouteSites,
  UDPRoute: streamRouteSites,
  XBackend: xBackendSites,
  XBackendTrafficPolicy: xBackendTrafficPolicySites,
  XListenerSet: xListenerSetSites,
  XTelemetryPolicy: xTelemetryPolicySites,
};

/**
 * The sites of one version of a kind in a bundle. Paths of fields that the bundle does not have may be among them.
 *
 * @param version its short name, `v1`
 */
export function officialSites(kind: SchemaKind, version: string, bundle: Bundle): readonly Site[] {
  return sitesIn(officialTables[kind], version, bundle);
}

/** The kinds of which each rule demands something in some bundle: rule id → kinds. */
export const demandingKinds: ReadonlyMap<string, readonly SchemaKind[]> = kindsByRule(officialTables);
