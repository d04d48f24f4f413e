import type { Path } from '../../resources/path.ts';
import { allVariants, resolveAll, type Bundle, type SchemaKind } from '../../schema/index.ts';
import type { Demand } from '../demand.ts';
import { gatewaySites, listenerSetSites, xListenerSetSites } from './gateways.ts';
import { backendLbPolicySites, backendTlsPolicySites, xBackendSites, xBackendTrafficPolicySites, xTelemetryPolicySites } from './policies.ts';
import { grpcRouteSites, httpRouteSites, streamRouteSites, tlsRouteSites } from './routes.ts';
import type { SiteGroup } from './sites.ts';

/** Kinds that are not here are judged by their schema alone. */
const groups: { readonly [K in SchemaKind]?: readonly SiteGroup[] } = {
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

/** What a bundle demands at one place of the objects of a kind. */
export interface OfficialSite {
  /** `spec.rules[].filters`: `[]` stands for each item. */
  readonly path: string;
  readonly demands: readonly Demand[];
}

/**
 * The sites of one version of a kind in a bundle. Paths of fields that the bundle does not have may be among them.
 *
 * @param version its short name, `v1`
 */
export function officialSites(kind: SchemaKind, version: string, bundle: Bundle): readonly OfficialSite[] {
  const applicable = (groups[kind] ?? []).filter(({ versions }) => versions?.includes(version) ?? true);
  return applicable.flatMap(({ sites }) => Object.entries(sites)).flatMap(([path, demands]) => {
    const inForce = resolveAll(demands, bundle);
    return inForce.length === 0 ? [] : [{ path, demands: inForce }];
  });
}

/** A place where a site is, were each of its lists one item long: `spec.rules[]` → `['spec', 'rules', 0]`. */
export function partsOf(path: string): Path {
  return path.replaceAll('[]', '.[]').split('.').map((part) => (part === '[]' ? 0 : part));
}

/** The kinds of which each rule demands something in some bundle: rule id → kinds. */
export const demandingKinds: ReadonlyMap<string, readonly SchemaKind[]> = kindsByRule();

function kindsByRule(): ReadonlyMap<string, readonly SchemaKind[]> {
  const kinds = new Map<string, Set<SchemaKind>>();
  for (const [kind, siteGroups] of Object.entries(groups) as [SchemaKind, readonly SiteGroup[]][]) {
    const demands = siteGroups.flatMap(({ sites }) => Object.values(sites).flat()).flatMap((demand) => allVariants(demand));
    for (const { rule } of demands) kinds.set(rule, (kinds.get(rule) ?? new Set()).add(kind));
  }
  return new Map([...kinds].map(([rule, set]) => [rule, [...set]]));
}
