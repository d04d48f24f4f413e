import type { Installation, InstalledBundles } from '../graph/inputs.ts';
import {
  enumOf,
  fieldIn,
  resolveAll,
  until,
  type KindName,
  type MaybeVersioned,
  type SchemaKind,
} from '../schema/index.ts';

/** A kind, field or value that a feature requires. */
type Need = readonly [kind: SchemaKind, field?: string, value?: number];

/**
 * Every feature of the Gateway API that a GatewayClass can report (pkg/features, GEP-2162), and the part of the installed
 * bundle that it requires.
 */
const needs = {
  BackendTLSPolicy: ['BackendTLSPolicy'],
  BackendTLSPolicySANValidation: ['BackendTLSPolicy', 'spec.validation.subjectAltNames'],
  ClusterTrustBundle: ['BackendTLSPolicy', 'spec.validation.caCertificateRefs'],
  GRPCRoute: ['GRPCRoute'],
  GRPCRouteNamedRouteRule: ['GRPCRoute', 'spec.rules.name'],
  GRPCRouteRequestHeaderModifier: ['GRPCRoute', 'spec.rules.filters.requestHeaderModifier'],
  Gateway: ['Gateway'],
  GatewayAddressEmpty: ['Gateway', 'spec.addresses'],
  GatewayAddressRoutability: ['Gateway', 'spec.addresses.routability'],
  GatewayAddressRoutabilityCluster: ['Gateway', 'spec.addresses.routability'],
  GatewayBackendClientCertificate: ['Gateway', 'spec.tls.backend.clientCertificateRef'],
  GatewayFrontendClientCertificateValidation: ['Gateway', 'spec.tls.frontend'],
  GatewayFrontendClientCertificateValidationInsecureFallback: ['Gateway', 'spec.tls.frontend.default.validation.mode'],
  GatewayHTTPListenerIsolation: ['Gateway'],
  GatewayHTTPSListenerDetectMisdirectedRequests: ['Gateway'],
  GatewayInfrastructure: ['Gateway', 'spec.infrastructure'],
  GatewayListenerFilters: ['Gateway', 'spec.listeners.filters'],
  GatewayPort8080: ['Gateway'],
  GatewayRouteHostnameIntersectionPrecedence: ['Gateway'],
  GatewayStaticAddresses: ['Gateway', 'spec.addresses'],
  HTTPRoute: ['HTTPRoute'],
  HTTPRoute303RedirectStatusCode: ['HTTPRoute', 'spec.rules.filters.requestRedirect.statusCode', 303],
  HTTPRoute307RedirectStatusCode: ['HTTPRoute', 'spec.rules.filters.requestRedirect.statusCode', 307],
  HTTPRoute308RedirectStatusCode: ['HTTPRoute', 'spec.rules.filters.requestRedirect.statusCode', 308],
  HTTPRouteBackendProtocolH2C: ['HTTPRoute'],
  HTTPRouteBackendProtocolWebSocket: ['HTTPRoute'],
  HTTPRouteBackendRequestHeaderModification: ['HTTPRoute', 'spec.rules.backendRefs.filters.requestHeaderModifier'],
  HTTPRouteBackendTimeout: ['HTTPRoute', 'spec.rules.timeouts.backendRequest'],
  HTTPRouteBackendURLRewrite: ['HTTPRoute', 'spec.rules.backendRefs.filters.urlRewrite'],
  HTTPRouteCORS: ['HTTPRoute', 'spec.rules.filters.cors'],
  HTTPRouteDestinationPortMatching: ['HTTPRoute', 'spec.parentRefs.port'],
  HTTPRouteHostRewrite: ['HTTPRoute', 'spec.rules.filters.urlRewrite.hostname'],
  HTTPRouteMethodMatching: ['HTTPRoute', 'spec.rules.matches.method'],
  HTTPRouteNamedRouteRule: ['HTTPRoute', 'spec.rules.name'],
  HTTPRouteParentRefPort: ['HTTPRoute', 'spec.parentRefs.port'],
  HTTPRoutePathRedirect: ['HTTPRoute', 'spec.rules.filters.requestRedirect.path'],
  HTTPRoutePathRewrite: ['HTTPRoute', 'spec.rules.filters.urlRewrite.path'],
  HTTPRoutePortRedirect: ['HTTPRoute', 'spec.rules.filters.requestRedirect.port'],
  HTTPRouteQueryParamMatching: ['HTTPRoute', 'spec.rules.matches.queryParams'],
  HTTPRouteRequestMirror: ['HTTPRoute', 'spec.rules.filters.requestMirror'],
  HTTPRouteRequestMultipleMirrors: ['HTTPRoute', 'spec.rules.filters.requestMirror'],
  HTTPRouteRequestPercentageMirror: ['HTTPRoute', 'spec.rules.filters.requestMirror.percent'],
  HTTPRouteRequestTimeout: ['HTTPRoute', 'spec.rules.timeouts.request'],
  HTTPRouteResponseHeaderModification: ['HTTPRoute', 'spec.rules.filters.responseHeaderModifier'],
  HTTPRouteRetryCodes: ['HTTPRoute', 'spec.rules.retry.codes'],
  HTTPRouteRetryConnectionError: ['HTTPRoute', 'spec.rules.retry'],
  HTTPRouteSchemeRedirect: ['HTTPRoute', 'spec.rules.filters.requestRedirect.scheme'],
  ListenerSet: ['ListenerSet'],
  ReferenceGrant: ['ReferenceGrant'],
  TCPRoute: ['TCPRoute'],
  TLSRoute: ['TLSRoute'],
  TLSRouteModeMixed: ['TLSRoute'],
  TLSRouteModeTerminate: ['TLSRoute'],
  UDPRoute: ['UDPRoute'],
} as const satisfies Readonly<Record<string, Need>>;

export type FeatureName = keyof typeof needs;

const featureNames = Object.keys(needs) as readonly FeatureName[];

/** Kinds of Kubernetes that features require and that some API servers do not serve. */
const optionalKinds: { readonly [N in FeatureName]?: KindName } = { ClusterTrustBundle: 'ClusterTrustBundle' };

/** Former names of features, for suites and tools of older versions. */
const formerNames: { readonly [N in FeatureName]?: readonly MaybeVersioned<string>[] } = {
  GatewayInfrastructure: [until('1.7', 'GatewayInfrastructurePropagation')],
  HTTPRouteRetryCodes: [until('1.7', 'HTTPRouteRetry'), until('1.7', 'HTTPRouteRetryBackendTimeout')],
};

/** In the format of the bundle: an object per name, or before v1.2 only the name. */
export type SupportedFeatures = readonly { readonly name: string }[] | readonly string[];

/**
 * The supported features that a GatewayClass reports, sorted; `undefined` if the installed bundle does not have the field
 * (GatewayClassStatus.supportedFeatures).
 *
 * @param installation the installed bundle of each kind, and the kinds that are not served. Features that users cannot configure or
 * use with them are not reported
 */
export function supportedFeatures(installation: Installation): SupportedFeatures | undefined {
  const { bundles: installed, notInstalled = [], unobserved } = installation;
  const bundle = installed.GatewayClass;
  const place = bundle && fieldIn(bundle, 'GatewayClass', 'status.supportedFeatures');
  if (bundle === undefined || place?.type !== 'list') return undefined;
  const lacking = new Set([...notInstalled, ...unobserved]);
  const names = featureNames
    .filter((name) => isAvailable(needs[name], installed))
    .filter((name) => !lacking.has(optionalKinds[name] ?? 'GatewayClass'))
    .flatMap((name) => namesOf(name, installed))
    .sort();
  if (place.items.type !== 'string') return names.map((name) => ({ name }));
  const known = enumOf(place.items, bundle);
  return known.length === 0 ? names : names.filter((name) => known.includes(name));
}

/** The current name, and the former names that apply to the bundle of its kind. */
function namesOf(name: FeatureName, installed: InstalledBundles): readonly string[] {
  const bundle = installed[needs[name][0]];
  return bundle === undefined ? [name] : [name, ...resolveAll(formerNames[name] ?? [], bundle)];
}

function isAvailable([kind, field, value]: Need, installed: InstalledBundles): boolean {
  const bundle = installed[kind];
  const node = bundle && fieldIn(bundle, kind, field);
  if (bundle === undefined || node === undefined) return false;
  return value === undefined || (node.type === 'integer' && enumOf(node, bundle).includes(value));
}
