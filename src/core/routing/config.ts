import type { Unobserved } from '../graph/observed.ts';
import type { Layer4RouteKind, ServedProtocol } from '../graph/protocols.ts';
import type { RouteMatch } from '../graph/matches/route-match.ts';

export type { NamedMatch, RouteMatch, StringMatchType } from '../graph/matches/route-match.ts';

/**
 * The configuration that a data plane receives: small keyed resources; children name their parents. All are plain JSON,
 * compared by digest. Invalid and unresolved parts are already explicit variants here (`invalid`, `failure`), so that a data
 * plane never validates.
 */
export type ConfigResource = ListenerConfig | RouteConfig | Layer4RouteConfig | EndpointsConfig;

/**
 * `listener/<gateway namespace>/<gateway name>/<listener name>` and so on; unique over all kinds. Keys of ListenerSet
 * listeners have the namespace and name of the ListenerSet before the last part. The listener name is escaped.
 */
export type ConfigKey = string;

export interface ListenerConfig {
  readonly kind: 'listener';
  readonly key: ConfigKey;
  /** `namespace/name` of the Gateway. Each Gateway has its own address. */
  readonly gateway: string;
  /** The owner of the listener: `Gateway/namespace/name` or `ListenerSet/namespace/name`. */
  readonly owner: string;
  /** Unique within the owner. */
  readonly name: string;
  /** The port in the specification. The data plane decides which port to bind. */
  readonly port: number;
  readonly protocol: ServedProtocol;
  /** TLS only: whether the data plane terminates TLS or forwards the bytes unchanged. */
  readonly tlsMode?: 'Terminate' | 'Passthrough';
  /** Absent: any host. May be a wildcard (`*.example.com`). Lower case. */
  readonly hostname?: string;
  /**
   * `namespace/name` of the Secrets for TLS termination: for HTTPS, and for TLS with the mode Terminate. If empty, see
   * `isReserved`.
   */
  readonly certificates: readonly string[];
  /** For terminated TLS: clients must present a certificate (Gateway.spec.tls.frontend). */
  readonly clientValidation?: ClientValidation;
  /** `namespace/name` of the Secret with the client certificate for backends over TLS (Gateway.spec.tls.backend). */
  readonly backendCertificate?: string;
  /** Filters of every request, in order, before it is routed (GEP-5224). */
  readonly filters?: readonly AuthorizationFilter[];
  /** If set, every request gets a 500 response; the text is the reason. */
  readonly failure?: string;
  /** metadata.generation of the owner, for acknowledgements. */
  readonly generation: number;
}

/**
 * Whether a listener only reserves its hostname: it terminates TLS, and has no usable certificate. No other listener serves
 * the hostname, and connections for it are closed.
 */
export function isReserved({ protocol, tlsMode, certificates }: ListenerConfig): boolean {
  return (protocol === 'HTTPS' || (protocol === 'TLS' && tlsMode === 'Terminate')) && certificates.length === 0;
}

export interface ClientValidation {
  /** CA certificates in PEM that must have issued the certificates of clients. */
  readonly authorities: readonly string[];
  /** Whether a client without a valid certificate is rejected, or served as unauthenticated. */
  readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback';
}

export interface RouteConfig {
  readonly kind: 'route';
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly route: string;
  /**
   * Set for a GRPCRoute. Its matches apply only to gRPC requests (`isGrpc` in text/grpc.ts). Its backends and mirrors get
   * HTTP/2, without TLS unless the endpoints have `tls`, whatever their `protocol` says. Where other routes respond with 500
   * or 503, it responds with the gRPC status UNAVAILABLE (GRPCRouteRule.backendRefs).
   */
  readonly protocol?: 'grpc';
  /** creationTimestamp (RFC 3339), or the order of appearance for sources without it. Older routes sort first. */
  readonly created: string;
  readonly attachments: readonly RouteAttachment[];
  readonly rules: readonly RouteRule[];
  readonly generation: number;
}

export interface RouteAttachment {
  readonly listener: ConfigKey;
  /**
   * The hostnames of the route (lower case, `*.` wildcards) that intersect the listener's. `''` represents a route without
   * hostnames. Precedence is determined by these, not by the intersection (Gateway API v1.7).
   */
  readonly hostnames: readonly string[];
}

/** A TLSRoute, TCPRoute or UDPRoute: one weighted list of backends for all of its connections or flows. */
export interface Layer4RouteConfig {
  readonly kind: 'layer4Route';
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly route: string;
  readonly routeKind: Layer4RouteKind;
  /** As in `RouteConfig`: the oldest route takes precedence, then the first by `namespace/name`. */
  readonly created: string;
  /** `hostnames` as in `RouteConfig`; `['']` for TCPRoute and UDPRoute. */
  readonly attachments: readonly RouteAttachment[];
  /** If set, every connection is closed and every datagram is dropped; the text is the reason. */
  readonly failure?: string;
  readonly backends: readonly Layer4Backend[];
  readonly generation: number;
}

export type { Layer4RouteKind } from '../graph/protocols.ts';

/** A weighted backend. For an invalid target, its share of connections is reset and its share of datagrams is dropped. */
export interface Layer4Backend {
  readonly weight: number;
  readonly target: BackendTarget;
}

export interface RouteRule {
  /** Index in spec.rules. */
  readonly index: number;
  readonly name?: string;
  /** Readable matches only. A rule without any matches no request. */
  readonly matches: readonly RouteMatch[];
  /** If set, every matching request gets a 500 response; the text is the reason. */
  readonly failure?: string;
  readonly filters: readonly RouteFilter[];
  readonly backends: readonly RouteBackend[];
  /** In milliseconds; absent or 0: no limit. */
  readonly requestTimeout?: number;
  readonly backendRequestTimeout?: number;
  readonly retry?: Retry;
  /** Requests of one client go to the same endpoint of each backend. */
  readonly session?: Session;
}

/** Session persistence (GEP-1619). It acts after the choice of a backend by weight. */
export type Session = CookieSession | HeaderSession;

interface SessionTerms {
  /** Identifies the rule, the policy, or the XBackends of a namespace among all: sessions of one are invalid for others. */
  readonly identity: string;
  /** Identifies the rule, for a session of a backend: rules do not share sessions, even if they share a cookie (GEP-1619). */
  readonly rule?: string;
  /** The name of the cookie or header. */
  readonly name: string;
  /** Maximum lifetime in milliseconds; absent: no limit. */
  readonly absoluteTimeout?: number;
  /** Maximum time between two requests in milliseconds; absent: no limit. */
  readonly idleTimeout?: number;
  /** Gateways (`namespace/name`) to which it does not apply. See `routeFor`. */
  readonly exceptFor?: readonly string[];
}

export interface CookieSession extends SessionTerms {
  readonly type: 'cookie';
  readonly path: string;
  /** Whether the browser keeps the cookie until `absoluteTimeout`. Otherwise, until it is closed. */
  readonly permanent: boolean;
}

export interface HeaderSession extends SessionTerms {
  readonly type: 'header';
}

/** The conditions for retries (HTTPRouteRetry). */
export interface Retry {
  /** Response statuses of backends that cause a retry. Connection failures always do. */
  readonly codes: readonly number[];
  /** Maximum number of retries; 0: none. */
  readonly attempts: number;
  /** Delay before a retry in milliseconds; absent: the data plane decides. */
  readonly backoff?: number;
}

export type RouteFilter =
  | HeaderFilter
  | RedirectFilter
  | RewriteFilter
  | MirrorFilter
  | CorsFilter
  | AuthorizationFilter;

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

/** Sends a copy of `numerator` of `denominator` requests to the target; the responses are ignored. */
export interface MirrorFilter {
  readonly type: 'mirror';
  readonly target: BackendTarget;
  readonly numerator: number;
  readonly denominator: number;
}

/** Responds to preflight requests, and tells browsers which origins may read responses (HTTPCORSFilter). */
export interface CorsFilter {
  readonly type: 'cors';
  /** Origins as written: exact, `*`, or with one wildcard at the start of the host (`https://*.example.com`). Lower case. */
  readonly allowOrigins: readonly string[];
  readonly allowCredentials: boolean;
  /** Methods as written; `*` for any. */
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  /** In seconds. */
  readonly maxAge: number;
}

/** Requires the permission of an authorization server for each request (HTTPExternalAuthFilter). */
export interface AuthorizationFilter {
  readonly type: 'authorization';
  readonly target: BackendTarget;
  readonly protocol: AuthorizationProtocol;
  /** Request header fields sent to the server besides Host, Content-Length and Authorization. Empty for gRPC: all. */
  readonly requestHeaders: readonly string[];
  /** HTTP: fields of the server's response that are copied to the request for the backend; empty: all. */
  readonly responseHeaders: readonly string[];
  /** HTTP: prefix for the path of the request; may be empty. */
  readonly path: string;
  /** Maximum size in bytes of a body that is sent to the server; 0: no body is sent. */
  readonly maxBody: number;
}

/** The protocol of an authorization server: the request itself, or a call of `envoy.service.auth.v3.Authorization/Check`. */
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
  /** The session persistence of the backend. Absent if the rule has its own, which takes precedence (GEP-1619). */
  readonly session?: Session;
}

/** Filters that can apply to the requests of a single backendRef. */
export type BackendFilter = HeaderFilter | RewriteFilter | MirrorFilter;

/** `endpoints/<namespace>/<service>/<port>`, for other kinds `endpoints/<kind>/<namespace>/<name>/<port>`, or the reason why there is none: its share of requests gets a 500 response. */
export type BackendTarget = { readonly type: 'endpoints'; readonly key: ConfigKey } | InvalidTarget;

/** A backend that cannot be used. `unobserved`: for all that is known here, it may be usable. */
export interface InvalidTarget {
  readonly type: 'invalid';
  readonly reason: string;
  readonly unobserved?: Unobserved;
}

export interface EndpointsConfig {
  readonly kind: 'endpoints';
  readonly key: ConfigKey;
  /** Ready endpoints in stable order. If empty, and without `external`, requests get a 503 response. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** A DNS name outside the cluster. The data plane resolves it, and refuses internal addresses. */
  readonly external?: { readonly hostname: string; readonly port: number };
  /**
   * `h2c`: HTTP/2 without TLS (`appProtocol: kubernetes.io/h2c`). `h2` and `http/1.1`: only this version over TLS. Absent: HTTP/1.1, or
   * what TLS negotiates; see `RouteConfig.protocol`.
   */
  readonly protocol?: 'h2c' | 'h2' | 'http/1.1';
  /** Connections are made over TLS (BackendTLSPolicy, XBackend). */
  readonly tls?: BackendTls;
  /** If set, nothing may be sent there, e.g. because a BackendTLSPolicy is invalid: requests get a 500 response. */
  readonly failure?: string;
  /**
   * Gateways (`namespace/name`) that get `failure` instead of everything else. The code that splits configuration by Gateway
   * applies it.
   */
  readonly withheld?: { readonly from: readonly string[]; readonly failure: string };
  readonly retryBudget?: RetryBudget;
  /** Set if `addresses` is empty only because the objects with the addresses are not observed. */
  readonly unobserved?: Unobserved;
}

/**
 * The limit of retries to a backend (RetryConstraint, GEP-3388). Each data plane counts for itself. Durations are in
 * milliseconds.
 */
export interface RetryBudget {
  /** Identifies the backend: its ports share the budget. */
  readonly backend: string;
  /** Maximum share of retries among the requests of the last `interval`. */
  readonly percent: number;
  readonly interval: number;
  /** This number of retries in the last `interval` is permitted in any case. */
  readonly minimum: { readonly count: number; readonly interval: number };
  /** Gateways (`namespace/name`) to which the budget does not apply. The code that splits configuration by Gateway applies it. */
  readonly exceptFor?: readonly string[];
}

export interface BackendTls {
  /** Sent as SNI. The certificate must be valid for it unless `subjectAltNames` has entries. */
  readonly serverName: string;
  /** The certificate must contain one of them; if empty, `serverName`. */
  readonly subjectAltNames: readonly { readonly type: 'Hostname' | 'URI'; readonly value: string }[];
  /** CA certificates in PEM for the certificate of the backend; `system`: the trust store of the data plane's image. */
  readonly authorities: readonly string[] | 'system';
  /** The client certificate that is presented. Absent: that of the Gateway, if it has one. */
  readonly clientCertificate?: 'none' | { /** `namespace/name` */ readonly secret: string };
}

/** A match of a rule. Metrics, access logs and `explain` name it like this: `shop/cart rule 0 match 1`. */
export interface MatchedRoute {
  readonly route: RouteConfig;
  readonly rule: RouteRule;
  readonly match: RouteMatch;
}

/** `namespace/name` of the Secret that a data plane needs for connections to endpoints; `undefined` if it needs none. */
export function secretOf({ tls }: EndpointsConfig): string | undefined {
  const { clientCertificate } = tls ?? {};
  return typeof clientCertificate === 'object' ? clientCertificate.secret : undefined;
}

/** `namespace/name` of every Secret that a data plane needs for a listener. */
export function secretsOf({ certificates, backendCertificate }: ListenerConfig): readonly string[] {
  return backendCertificate === undefined ? certificates : [...certificates, backendCertificate];
}

/** Returns the destinations of endpoints as text, for people: addresses, or the name that a data plane resolves. */
export function destinationsOf({ addresses, external }: EndpointsConfig): readonly string[] {
  if (external !== undefined) return [`${external.hostname}:${external.port}`];
  return addresses.map(({ host, port }) => `${host}:${port}`);
}

/** The endpoints for one Gateway (`namespace/name`). Endpoints withheld from it become a failure. */
export function endpointsFor(gateway: string, endpoints: EndpointsConfig): EndpointsConfig {
  const { withheld, ...rest } = endpoints;
  if (withheld?.from.includes(gateway) === true)
    return { kind: rest.kind, key: rest.key, addresses: [], failure: withheld.failure };
  const { retryBudget, ...others } = rest;
  if (retryBudget?.exceptFor === undefined) return withheld === undefined ? endpoints : rest;
  const { exceptFor, ...budget } = retryBudget;
  return exceptFor.includes(gateway) ? others : { ...others, retryBudget: budget };
}

/** The route for one Gateway (`namespace/name`), without the sessions of policies that do not apply to it. */
export function routeFor(gateway: string, route: RouteConfig): RouteConfig {
  if (!sessionsOf(route).some(({ exceptFor }) => exceptFor !== undefined)) return route;
  const backendFor = ({ session, ...backend }: RouteBackend): RouteBackend => {
    if (session === undefined) return backend;
    const { exceptFor, ...terms } = session;
    return exceptFor?.includes(gateway) === true ? backend : { ...backend, session: terms };
  };
  return { ...route, rules: route.rules.map((rule) => ({ ...rule, backends: rule.backends.map(backendFor) })) };
}

/** The sessions of the rules and backends of a route. */
export function sessionsOf({ rules }: RouteConfig): readonly Session[] {
  return rules.flatMap(({ session, backends }) =>
    [session, ...backends.map((backend) => backend.session)].filter((one) => one !== undefined),
  );
}

/**
 * Keys of all endpoints to which a listener or route can send requests, connections or flows: as backends, mirrors or
 * authorization servers.
 */
export function endpointsOf(route: ListenerConfig | RouteConfig | Layer4RouteConfig): readonly ConfigKey[] {
  if (route.kind === 'listener') return referencesAmong(route.filters ?? []);
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
