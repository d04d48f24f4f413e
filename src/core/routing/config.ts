import type { Layer4RouteKind, ServedProtocol } from '../graph/protocols.ts';
import type { RouteMatch } from '../graph/route-match.ts';

export type { NamedMatch, RouteMatch, StringMatchType } from '../graph/route-match.ts';

/**
 * The configuration a data plane receives: small keyed resources, children naming their parents. All are plain
 * JSON, compared by digest. What could not be understood or resolved is already a variant here (`invalid`,
 * `failure`), so that a data plane never judges.
 */
export type ConfigResource = ListenerConfig | RouteConfig | Layer4RouteConfig | EndpointsConfig;

/**
 * `listener/<gateway namespace>/<gateway name>/<listener name>` (of a ListenerSet, its namespace and name before the last
 * part, which is escaped) and so on; unique over all kinds.
 */
export type ConfigKey = string;

export interface ListenerConfig {
  readonly kind: 'listener';
  readonly key: ConfigKey;
  /** `namespace/name` of the Gateway; each Gateway has an address of its own. */
  readonly gateway: string;
  /** `Gateway/namespace/name` or `ListenerSet/namespace/name`: whose listener it is. */
  readonly owner: string;
  /** Unique within the owner. */
  readonly name: string;
  /** The port of the specification; where it is bound is the data plane's business. */
  readonly port: number;
  readonly protocol: ServedProtocol;
  /** TLS only: whether the data plane terminates TLS or forwards the bytes unchanged. */
  readonly tlsMode?: 'Terminate' | 'Passthrough';
  /** Absent: any host. May be a wildcard (`*.example.com`). Lower case. */
  readonly hostname?: string;
  /** `namespace/name` of the Secrets to terminate TLS with; HTTPS, and TLS with the mode Terminate. None: see `isReserved`. */
  readonly certificates: readonly string[];
  /** Where TLS is terminated: clients have to prove who they are (Gateway.spec.tls.frontend). */
  readonly clientValidation?: ClientValidation;
  /** `namespace/name` of the Secret with which to prove oneself to backends over TLS (Gateway.spec.tls.backend). */
  readonly backendCertificate?: string;
  /** metadata.generation of the owner, for acknowledgements. */
  readonly generation: number;
}

/**
 * Whether a listener only reserves its hostname: it terminates TLS, and no certificate is usable. No other listener serves the hostname,
 * and connections for it are closed.
 */
export function isReserved({ protocol, tlsMode, certificates }: ListenerConfig): boolean {
  return (protocol === 'HTTPS' || (protocol === 'TLS' && tlsMode === 'Terminate')) && certificates.length === 0;
}

export interface ClientValidation {
  /** Certificates in PEM that clients' certificates must lead to. */
  readonly authorities: readonly string[];
  /** Whether a client without a valid certificate is turned away, or served as somebody unknown. */
  readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback';
}

export interface RouteConfig {
  readonly kind: 'route';
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly route: string;
  /**
   * Set for a GRPCRoute: its matches are tried on gRPC requests alone (`isGrpc` in text/grpc.ts). Its backends and
   * mirrors are spoken to in HTTP/2, without TLS unless the endpoints have some, whatever their `protocol` says.
   * Where other routes answer 500 or 503, it answers with the gRPC status UNAVAILABLE (GRPCRouteRule.backendRefs).
   */
  readonly protocol?: 'grpc';
  /** creationTimestamp (RFC 3339) or order of appearance, whichever the source has; older sorts first. */
  readonly created: string;
  readonly attachments: readonly RouteAttachment[];
  readonly rules: readonly RouteRule[];
  readonly generation: number;
}

export interface RouteAttachment {
  readonly listener: ConfigKey;
  /**
   * The route's own hostnames (lower case, `*.` wildcards) that intersect the listener's. `''` stands for a route
   * without hostnames. Precedence goes by these, not by the intersection (Gateway API v1.7).
   */
  readonly hostnames: readonly string[];
}

/** A TLSRoute, TCPRoute or UDPRoute: all of its connections or flows go to one weighted list of backends. */
export interface Layer4RouteConfig {
  readonly kind: 'layer4Route';
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly route: string;
  readonly routeKind: Layer4RouteKind;
  /** As in `RouteConfig`: the oldest route serves, then the first by `namespace/name`. */
  readonly created: string;
  /** `hostnames` as in `RouteConfig`; `['']` for TCPRoute and UDPRoute. */
  readonly attachments: readonly RouteAttachment[];
  /** Set: every connection is closed and every datagram is dropped; the text says why. */
  readonly failure?: string;
  readonly backends: readonly Layer4Backend[];
  readonly generation: number;
}

export type { Layer4RouteKind } from '../graph/protocols.ts';

/** An invalid target: its share of connections is reset, its share of datagrams is dropped. */
export interface Layer4Backend {
  readonly weight: number;
  readonly target: BackendTarget;
}

export interface RouteRule {
  /** Position in spec.rules. */
  readonly index: number;
  readonly name?: string;
  /** Readable matches only; a rule without any matches nothing. */
  readonly matches: readonly RouteMatch[];
  /** Set: every request that matches is answered 500; the text says why. */
  readonly failure?: string;
  readonly filters: readonly RouteFilter[];
  readonly backends: readonly RouteBackend[];
  /** Milliseconds; absent or 0: no limit. */
  readonly requestTimeout?: number;
  readonly backendRequestTimeout?: number;
  readonly retry?: Retry;
}

/** When to try again (HTTPRouteRetry). */
export interface Retry {
  /** Statuses of backends after which to try again. Failed connections count always. */
  readonly codes: readonly number[];
  /** Tries after the first one; 0: none. */
  readonly attempts: number;
  /** Milliseconds to wait before a try; absent: as the data plane thinks fit. */
  readonly backoff?: number;
}

export type RouteFilter = HeaderFilter | RedirectFilter | RewriteFilter | MirrorFilter | CorsFilter | AuthorizationFilter;

export interface RedirectFilter {
  readonly type: 'redirect';
  readonly scheme?: string;
  readonly hostname?: string;
  readonly path?: PathModifier;
  readonly port?: number;
  readonly statusCode: number;
}

export interface RewriteFilter {
  readonly type: 'rewrite';
  readonly hostname?: string;
  readonly path?: PathModifier;
}

/** A copy of `numerator` of `denominator` requests goes there too; answers are ignored. */
export interface MirrorFilter {
  readonly type: 'mirror';
  readonly target: BackendTarget;
  readonly numerator: number;
  readonly denominator: number;
}

/** Answers preflight requests, and tells browsers who may read answers (HTTPCORSFilter). */
export interface CorsFilter {
  readonly type: 'cors';
  /** Origins as written: exact, `*`, or with one wildcard at the left of the host (`https://*.example.com`). Lower case. */
  readonly allowOrigins: readonly string[];
  readonly allowCredentials: boolean;
  /** Methods as written; `*` for any. */
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  /** Seconds. */
  readonly maxAge: number;
}

/** A server has to permit each request (HTTPExternalAuthFilter). */
export interface AuthorizationFilter {
  readonly type: 'authorization';
  readonly target: BackendTarget;
  readonly protocol: AuthorizationProtocol;
  /** Fields of requests that the server gets besides Host, Content-Length and Authorization; empty in gRPC: all. */
  readonly requestHeaders: readonly string[];
  /** HTTP: fields of the server's response that the backend gets; empty: all. */
  readonly responseHeaders: readonly string[];
  /** HTTP: comes before the path of the request; may be empty. */
  readonly path: string;
  /** Bytes of the longest body that is sent to the server; 0: no body is sent. */
  readonly maxBody: number;
}

/** How an authorization server is asked: by the request itself, or by a call of `envoy.service.auth.v3.Authorization/Check`. */
export type AuthorizationProtocol = 'http' | 'grpc';

export interface HeaderFilter {
  readonly type: 'requestHeaders' | 'responseHeaders';
  readonly set: readonly NamedValue[];
  readonly add: readonly NamedValue[];
  readonly remove: readonly string[];
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export type PathModifier =
  | { readonly type: 'full'; readonly value: string }
  /** Replaces the prefix that the rule's PathPrefix match matched. */
  | { readonly type: 'prefix'; readonly value: string };

export interface RouteBackend {
  readonly weight: number;
  readonly target: BackendTarget;
  readonly filters: readonly BackendFilter[];
}

/** What may be done to the requests of one backendRef alone. */
export type BackendFilter = HeaderFilter | RewriteFilter | MirrorFilter;

/** `endpoints/<namespace>/<service>/<port>`, or why there is none: its share of requests is answered 500. */
export type BackendTarget = { readonly type: 'endpoints'; readonly key: ConfigKey } | { readonly type: 'invalid'; readonly reason: string };

export interface EndpointsConfig {
  readonly kind: 'endpoints';
  readonly key: ConfigKey;
  /** Ready endpoints in stable order; none: requests are answered 503. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** HTTP/2 without TLS (`appProtocol: kubernetes.io/h2c`). Absent: HTTP/1.1, or what TLS negotiates; see `RouteConfig.protocol`. */
  readonly protocol?: 'h2c';
  /** Connections are made over TLS (BackendTLSPolicy). */
  readonly tls?: BackendTls;
  /** Set: nothing may be sent there, e.g. since a BackendTLSPolicy is not valid; requests are answered 500. */
  readonly failure?: string;
  /** Gateways (`namespace/name`) that get `failure` in place of all else. Whoever splits configuration by Gateway applies it. */
  readonly withheld?: { readonly from: readonly string[]; readonly failure: string };
}

export interface BackendTls {
  /** Sent as SNI; what the certificate must be for unless `subjectAltNames` names something. */
  readonly serverName: string;
  /** One of them must be in the certificate; empty: `serverName` must. */
  readonly subjectAltNames: readonly { readonly type: 'Hostname' | 'URI'; readonly value: string }[];
  /** Certificates in PEM that the backend's must lead to; `system`: those that the data plane's own image trusts. */
  readonly authorities: readonly string[] | 'system';
}

/** Requests per rule go by this name in metrics, access logs and `explain`: `shop/cart rule 0 match 1`. */
export interface MatchedRoute {
  readonly route: RouteConfig;
  readonly rule: RouteRule;
  readonly match: RouteMatch;
}

/** `namespace/name` of every Secret that a data plane needs for a listener. */
export function secretsOf({ certificates, backendCertificate }: ListenerConfig): readonly string[] {
  return backendCertificate === undefined ? certificates : [...certificates, backendCertificate];
}

/** Endpoints as one Gateway (`namespace/name`) may use them: those that are withheld from it become a failure. */
export function endpointsFor(gateway: string, endpoints: EndpointsConfig): EndpointsConfig {
  const { withheld, ...rest } = endpoints;
  if (withheld === undefined) return endpoints;
  return withheld.from.includes(gateway) ? { kind: rest.kind, key: rest.key, addresses: [], failure: withheld.failure } : rest;
}

/** Keys of all endpoints that requests, connections or flows of a route can be sent to: as themselves, as copies, or to be authorized. */
export function endpointsOf(route: RouteConfig | Layer4RouteConfig): readonly ConfigKey[] {
  if (route.kind === 'layer4Route') return route.backends.flatMap(({ target }) => keysOf(target));
  return route.rules.flatMap(({ filters, backends }) => [
    ...referencesAmong(filters),
    ...backends.flatMap(({ target, filters: own }) => [...keysOf(target), ...referencesAmong(own)]),
  ]);
}

function referencesAmong(filters: readonly RouteFilter[]): readonly ConfigKey[] {
  return filters.flatMap((filter) => ('target' in filter ? keysOf(filter.target) : []));
}

function keysOf(target: BackendTarget): readonly ConfigKey[] {
  return target.type === 'endpoints' ? [target.key] : [];
}
