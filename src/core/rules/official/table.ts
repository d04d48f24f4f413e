import type { Bundle, SchemaKind } from '../../schema/index.ts';
import { gatewaySites, listenerSetSites, xListenerSetSites } from './gateways.ts';
import {
  backendLbPolicySites,
  backendTlsPolicySites,
  xBackendSites,
  xBackendTrafficPolicySites,
  xTelemetryPolicySites,
} from './policies.ts';
import { grpcRouteSites, httpRouteSites, tcpRouteSites, tlsRouteSites, udpRouteSites } from './routes.ts';
import { kindsByRule, sitesIn, type Site, type SiteTables } from './sites.ts';

/** Kinds without an entry are validated only by their schema. */
export const officialTables: SiteTables = {
  BackendLBPolicy: backendLbPolicySites,
  BackendTLSPolicy: backendTlsPolicySites,
  Gateway: gatewaySites,
  GRPCRoute: grpcRouteSites,
  HTTPRoute: httpRouteSites,
  ListenerSet: listenerSetSites,
  TCPRoute: tcpRouteSites,
  TLSRoute: tlsRouteSites,
  UDPRoute: udpRouteSites,
  XBackend: xBackendSites,
  XBackendTrafficPolicy: xBackendTrafficPolicySites,
  XListenerSet: xListenerSetSites,
  XTelemetryPolicy: xTelemetryPolicySites,
};

/**
 * Returns the sites of one version of a kind in a bundle. They may include paths of fields that the bundle does not have.
 *
 * @param version its short name, `v1`
 */
export function officialSites(kind: SchemaKind, version: string, bundle: Bundle): readonly Site[] {
  return sitesIn(officialTables[kind], version, bundle);
}

/** The kinds with demands of each rule in any bundle: rule id → kinds. */
export const demandingKinds: ReadonlyMap<string, readonly SchemaKind[]> = kindsByRule(officialTables);
