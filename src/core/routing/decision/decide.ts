import type { Fields } from '../../text/fields.ts';
import { maxHops } from '../../text/via.ts';
import type { ConfigKey, ListenerConfig, MatchedRoute } from '../config.ts';
import { MatchTooCostly } from '../match-allowance.ts';
import type { RouteRequest } from '../table.ts';
import type { Authorization } from './authorization.ts';
import { editFields } from './header-edits.ts';
import { modifiedPath, redirectLocation } from './location.ts';
import type { PreparedBackend, PreparedRule } from './prepared-rule.ts';

/** The parts of a request that determine the decision. */
export interface DecidedRequest extends RouteRequest {
  /** The unchanged query with its question mark, or `''`. */
  readonly search: string;
  /** Max-Forwards of OPTIONS and TRACE (RFC 9110 section 7.6.2). */
  readonly remainingHops: number | undefined;
  /** The number of Sallyport proxies that the request has passed (RFC 9110 section 7.6.3). */
  readonly hops: number;
}

/** The current routes. `R` is the caller's representation of prepared rules. */
export interface Routing<R extends DecidedRule> {
  /** @throws MatchTooCostly if finding the route would take too much work */
  match(listener: ConfigKey, request: RouteRequest): MatchedRoute | undefined;
  ruleOf(matched: MatchedRoute): R | undefined;
}

/** The parts of a rule that determine the decision. */
export type DecidedRule = Pick<PreparedRule, 'failure' | 'redirect' | 'cors' | 'responseEdits' | 'authorization'>;

/** The listener, match and rule that a request was routed to. */
export interface Taken<R> {
  readonly listener: ListenerConfig;
  readonly matched: MatchedRoute;
  readonly rule: R;
}

/** Why a request gets an error response before a route is chosen. */
type PlainReason = 'listener-failure' | 'no-route' | 'match-too-costly' | 'trace-unsupported' | 'loop-detected';

/** The outcome of a request, as far as it is known before a backend is chosen. */
export type Decision<R> =
  /** The proxy responds with an error. */
  | { readonly type: 'answer'; readonly reason: PlainReason }
  | { readonly type: 'answer'; readonly reason: 'rule-failure'; readonly taken: Taken<R> }
  /** The request is for the proxy itself: 204. */
  | { readonly type: 'acknowledge' }
  /** A CORS preflight request: 204 with these fields. */
  | { readonly type: 'preflight'; readonly taken: Taken<R>; readonly fields: Fields }
  /** The authorization server is called; `permitted` applies if it permits the request. See `decideAuthorization`. */
  | {
      readonly type: 'authorize';
      readonly taken: Taken<R>;
      readonly authorization: Authorization;
      readonly permitted: Permitted<R>;
    }
  | Permitted<R>;

/** The outcome of a request that needs no permission or has been permitted. */
export type Permitted<R> =
  | {
      readonly type: 'redirect';
      readonly taken: Taken<R>;
      readonly status: number;
      readonly location: string;
      readonly fields: string[];
    }
  /** One of the rule's backends, chosen by weight, gets the request. See `decideBackend`. */
  | { readonly type: 'forward'; readonly taken: Taken<R> };

/**
 * Returns the filters of a listener that a request must pass before `decide`, in order. Requests that get an error anyway pass
 * none, so that a loop does not reach the authorization servers.
 */
export function filtersBefore(
  filters: readonly Authorization[],
  { failure }: Pick<ListenerConfig, 'failure'>,
  { hops }: Pick<DecidedRequest, 'hops'>,
): readonly Authorization[] {
  return failure === undefined && hops < maxHops ? filters : [];
}

/**
 * Decides what happens to a request that arrived at a listener and passed its filters (`filtersBefore`). The proxy executes the
 * decision, and `explain` prints it.
 *
 * Order: failure of the listener; loops; requests for the proxy itself; the match (HTTPRouteRule.matches); failure of the rule; CORS preflight (HTTPCORSFilter);
 * authorization (HTTPExternalAuthFilter); redirect (HTTPRequestRedirectFilter); backends.
 */
export function decide<R extends DecidedRule>(
  routing: Routing<R>,
  listener: ListenerConfig,
  request: DecidedRequest,
): Decision<R> {
  if (listener.failure !== undefined) return { type: 'answer', reason: 'listener-failure' };
  if (request.hops >= maxHops) return { type: 'answer', reason: 'loop-detected' };
  if (request.path === '*' || request.remainingHops === 0) {
    return request.method === 'TRACE' ? { type: 'answer', reason: 'trace-unsupported' } : { type: 'acknowledge' };
  }
  const matched = matchOf(routing, listener, request);
  if (matched === 'match-too-costly') return { type: 'answer', reason: matched };
  const rule = matched === undefined ? undefined : routing.ruleOf(matched);
  if (matched === undefined || rule === undefined) return { type: 'answer', reason: 'no-route' };
  const taken = { listener, matched, rule };
  if (rule.failure !== undefined) return { type: 'answer', reason: 'rule-failure', taken };
  const fields = rule.cors?.preflight(request);
  if (fields !== undefined) return { type: 'preflight', taken, fields };
  const permitted: Permitted<R> =
    rule.redirect === undefined ? { type: 'forward', taken } : redirection(rule.redirect, taken, request);
  return rule.authorization === undefined
    ? permitted
    : { type: 'authorize', taken, authorization: rule.authorization, permitted };
}

function matchOf(
  routing: Pick<Routing<never>, 'match'>,
  { key }: ListenerConfig,
  request: RouteRequest,
): MatchedRoute | 'match-too-costly' | undefined {
  try {
    return routing.match(key, request);
  } catch (error) {
    if (error instanceof MatchTooCostly) return 'match-too-costly';
    throw error;
  }
}

function redirection<R extends DecidedRule>(
  redirect: NonNullable<R['redirect']>,
  taken: Taken<R>,
  request: DecidedRequest,
): Permitted<R> {
  const { listener, matched, rule } = taken;
  const location = redirectLocation(redirect, listener, request, matched.match);
  const own = ['location', location, 'content-length', '0'];
  const fields = editFields(rule.cors?.respond(own, request) ?? own, rule.responseEdits);
  return { type: 'redirect', taken, status: redirect.statusCode, location, fields };
}

/** The properties of a Service's endpoints that determine the decision. */
export interface DecidedEndpoints {
  /** If set, nothing may be sent there; the text is the reason. */
  readonly failure: string | undefined;
  readonly isEmpty: boolean;
  /** Why it is empty; default: `no-endpoints`. */
  readonly whyEmpty?: EmptyReason | undefined;
}

/** Why endpoints are empty. The last two are about the name of an external backend: it has no address, or only internal ones. */
export type EmptyReason = 'no-endpoints' | 'name-unresolved' | 'internal-address';

/** Why a backend does not get its share of requests. */
export type BackendReason = 'no-backend' | 'invalid-backend' | EmptyReason;

/**
 * Decides what happens to a request for which a backend was chosen.
 *
 * @param backend `undefined` if no backend of the rule has a weight above zero
 * @returns the endpoints to send it to, or the reason for an error response
 */
export function decideBackend<E extends DecidedEndpoints>(
  backend: { readonly endpoints: ConfigKey | undefined } | undefined,
  endpointsOf: (key: ConfigKey) => E | undefined,
): E | BackendReason {
  if (backend === undefined) return 'no-backend';
  if (backend.endpoints === undefined) return 'invalid-backend';
  const endpoints = endpointsOf(backend.endpoints);
  if (endpoints?.failure !== undefined) return 'invalid-backend';
  if (endpoints === undefined) return 'no-endpoints';
  return endpoints.isEmpty ? (endpoints.whyEmpty ?? 'no-endpoints') : endpoints;
}

/** Why no authorization server can be called. */
export type AuthorizationReason = 'authorization-invalid' | 'authorization-unavailable';

/**
 * Selects the authorization server for a request. Without a server, the request gets an error response
 * (HTTPRouteFilter.externalAuth: "this filter MUST fail closed").
 *
 * @returns the endpoints of the authorization server, or the reason for an error response
 */
export function decideAuthorization<E extends DecidedEndpoints>(
  authorization: Pick<Authorization, 'endpoints'>,
  endpointsOf: (key: ConfigKey) => E | undefined,
): E | AuthorizationReason {
  const endpoints = decideBackend(authorization, endpointsOf);
  if (typeof endpoints !== 'string') return endpoints;
  return endpoints === 'no-backend' || endpoints === 'invalid-backend'
    ? 'authorization-invalid'
    : 'authorization-unavailable';
}

/** The request target for a backend: the path after URLRewrite, and the unchanged query. */
export function forwardedTarget(
  { path }: Pick<PreparedBackend, 'path'>,
  request: Pick<DecidedRequest, 'path' | 'search'>,
  { match }: Pick<MatchedRoute, 'match'>,
): string {
  return `${modifiedPath(request.path, path, match)}${request.search}`;
}

/** The Host for a backend: the one of URLRewrite, otherwise the one of the client's request. */
export function forwardedHost({ hostname }: Pick<PreparedBackend, 'hostname'>, authority: string): string {
  return hostname ?? authority;
}
