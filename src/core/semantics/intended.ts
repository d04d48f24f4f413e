import { fieldDefaults } from '../schema/index.ts';

// The intended values of fields that have a default in the CRDs: the written value, or the default. A view contains the written
// values only, because objects in files have no defaults yet, and older bundles do not set all of them. Whoever needs the intended
// value takes it from here, so that rules, conditions and data planes interpret an omitted field in the same way.

/** A group and a kind as written. */
interface GroupKindView {
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** Returns group and kind of a parentRef (ParentReference). */
export function parentGroupKind({ group, kind }: GroupKindView): GroupKind {
  return { group: group ?? fieldDefaults.parentRef.group, kind: kind ?? fieldDefaults.parentRef.kind };
}

/** Returns group and kind of a reference to a backend (BackendObjectReference). */
export function backendGroupKind({ group, kind }: GroupKindView): GroupKind {
  return { group: group ?? fieldDefaults.backendRef.group, kind: kind ?? fieldDefaults.backendRef.kind };
}

/** Returns group and kind of an entry of allowedRoutes.kinds (RouteGroupKind). The kind is required; absent: `''`. */
export function allowedGroupKind({ group, kind = '' }: GroupKindView): GroupKind {
  return { group: group ?? fieldDefaults.routeKindGroup, kind };
}

/** Returns the kind of a reference to certificates with keys (SecretObjectReference). */
export function secretKind({ kind }: GroupKindView): string {
  return kind ?? fieldDefaults.secretRef.kind;
}

/** Returns the weight of a backendRef (BackendRef.weight). */
export function weightOf(ref: { readonly weight?: number | undefined } | undefined): number {
  return ref?.weight ?? fieldDefaults.weight;
}

/** Returns the weight that a data plane uses. A negative one is invalid, and the backend gets no requests. */
export function servedWeight(ref: { readonly weight?: number | undefined } | undefined): number {
  return Math.max(0, weightOf(ref));
}

/** Returns type and value of a path match (HTTPPathMatch). Without one, every path matches. */
export function pathMatchOf(
  match: { readonly type?: string | undefined; readonly value?: string | undefined } | undefined,
): { readonly type: string; readonly value: string } {
  return { type: match?.type ?? fieldDefaults.path.type, value: match?.value ?? fieldDefaults.path.value };
}

/** Returns the type of a match of a header, query parameter or gRPC method. */
export function matchTypeOf(match: { readonly type?: string | undefined } | undefined): string {
  return match?.type ?? fieldDefaults.matchType;
}

/** Returns the denominator of a fraction (Fraction.denominator). */
export function denominatorOf(fraction: { readonly denominator?: number | undefined }): number {
  return fraction.denominator ?? fieldDefaults.denominator;
}

/** Returns the number of retries of a rule with `retry` (HTTPRouteRetry.attempts). */
export function retryAttempts(retry: { readonly attempts?: number | undefined } | undefined): number {
  return retry?.attempts ?? fieldDefaults.retryAttempts;
}

/** Returns the status code of a redirect (HTTPRequestRedirectFilter.statusCode). */
export function redirectStatus(redirect: { readonly statusCode?: number | undefined }): number {
  return redirect.statusCode ?? fieldDefaults.redirectStatus;
}

/** Returns how long clients may cache the response to a preflight request, in seconds (HTTPCORSFilter.maxAge). */
export function corsMaxAge(cors: { readonly maxAge?: number | undefined }): number {
  return cors.maxAge ?? fieldDefaults.corsMaxAge;
}

/** Returns whether sessions use a cookie or a header (SessionPersistence.type). */
export function sessionType(session: { readonly type?: string | undefined }): string {
  return session.type ?? fieldDefaults.session.type;
}

/** Returns the path of the cookie of sessions (CookieConfig.path). */
export function cookiePath(session: { readonly cookie?: { readonly path?: string | undefined } | undefined }): string {
  return session.cookie?.path ?? fieldDefaults.session.cookiePath;
}

/** Returns the TLS mode of a listener (ListenerTLSConfig.mode). */
export function listenerTlsMode(tls: { readonly mode?: string | undefined } | undefined): string {
  return tls?.mode ?? fieldDefaults.tlsMode;
}

/** Returns the TLS mode of an XBackend. Without `tls`, connections are not encrypted (BackendSpec.tls, BackendTLS.mode). */
export function backendTlsMode(tls: { readonly mode?: string | undefined } | undefined): string {
  return tls?.mode ?? fieldDefaults.backendTlsMode;
}

/** Returns the type of an address that a Gateway requests (GatewaySpecAddress.type). */
export function addressType(address: { readonly type?: string | undefined }): string {
  return address.type ?? fieldDefaults.addressType;
}

/** Returns the namespaces from which routes may attach to a listener (RouteNamespaces.from). */
export function routesFrom(namespaces: { readonly from?: string | undefined } | undefined): string {
  return namespaces?.from ?? fieldDefaults.routesFrom;
}

/** Returns the namespaces from which ListenerSets may attach to a Gateway (ListenerNamespaces.from). */
export function listenersFrom(namespaces: { readonly from?: string | undefined } | undefined): string {
  return namespaces?.from ?? fieldDefaults.listenersFrom;
}

/** Returns the mode of the tracing of an XTelemetryPolicy (Tracing.mode). */
export function tracingMode(tracing: { readonly mode?: string | undefined }): string {
  return tracing.mode ?? fieldDefaults.telemetryMode;
}

/** Returns the transport protocol of a port of a Service or EndpointSlice (ServicePort.protocol, EndpointPort.protocol). */
export function transportOfPort(port: { readonly protocol?: string | undefined }): string {
  return port.protocol ?? fieldDefaults.portProtocol;
}

/** Returns the budget of retries: at most `percent` of the requests of an interval (RetryConstraint.budget). */
export function retryBudget(
  budget: { readonly percent?: number | undefined; readonly interval?: string | undefined } | undefined,
): { readonly percent: number; readonly interval: string } {
  return {
    percent: budget?.percent ?? fieldDefaults.retryBudget.percent,
    interval: budget?.interval ?? fieldDefaults.retryBudget.interval,
  };
}

/** Returns the rate of retries that is always allowed: `count` in an interval (RetryConstraint.minRetryRate). */
export function minRetryRate(
  rate: { readonly count?: number | undefined; readonly interval?: string | undefined } | undefined,
): { readonly count: number; readonly interval: string } {
  return {
    count: rate?.count ?? fieldDefaults.minRetryRate.count,
    interval: rate?.interval ?? fieldDefaults.minRetryRate.interval,
  };
}
