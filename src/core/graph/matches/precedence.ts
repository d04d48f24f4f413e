import type { Resource } from '../../resources/resource.ts';
import type { ServedRouteKind } from '../protocols.ts';
import type { NamedMatch, RouteMatch } from './route-match.ts';
import { qualifiedName, refOfKey } from '../../resources/reference.ts';

const prefix = 'route/';

/** The identity of a route. */
export interface RouteIdentity {
  /** `route/<kind>/<namespace>/<name>`: unique across all kinds of configuration. */
  readonly key: string;
  /** `namespace/name`. */
  readonly route: string;
  /** Set for a GRPCRoute. */
  readonly protocol?: 'grpc';
  /** `ObjectMeta.created`. Older routes sort first. */
  readonly created: string;
}

/** Returns the identity of a route for precedence and configuration. */
export function routeIdentity({
  kind,
  ref: { namespace, name },
  meta: { created },
}: Resource<ServedRouteKind>): RouteIdentity {
  return {
    key: [`${prefix}${kind}`, namespace, name].join('/'),
    route: qualifiedName({ namespace, name }),
    ...(kind === 'GRPCRoute' ? { protocol: 'grpc' } : {}),
    created,
  };
}

/** One of a route's own hostnames (`''` for none) combined with one match of one of its rules. */
export interface Precedence {
  readonly hostname: string;
  readonly route: RouteIdentity;
  /** Position in spec.rules. */
  readonly rule: number;
  readonly match: RouteMatch;
}

/**
 * Returns the precedence of an entry as a string. Entries that sort first (by UTF-16 code units) are tried first. The criteria
 * are, by weight (`hostnames` and `rules[].matches` of HTTPRoute and GRPCRoute, Gateway API v1.7): the route's own hostname
 * (exact, then wildcard, then none; longer first), then the criteria of its kind, more headers, more query parameters, the
 * older route, `namespace/name`, the position of the rule, the position of the match.
 *
 * A GRPCRoute compares the number of characters of service and method. It precedes every HTTPRoute with the same hostname: the
 * rules of both kinds must not be merged into one order, and a GRPCRoute matches only gRPC requests, so both can be served. An
 * HTTPRoute compares the path (Exact, then RegularExpression, then PathPrefix; longer first), then whether it has a method. The
 * position of RegularExpression is implementation-specific. It precedes every PathPrefix regardless of length: an expression
 * usually selects some paths below a prefix, and its length does not indicate how specific it is.
 */
export function sortKey(entry: Precedence): string {
  const { hostname, route, rule, match } = entry;
  return [
    hostnameRank(hostname) + descending(hostname.length),
    route.protocol === 'grpc' ? '0' : '1',
    ...specificity(match),
    descending(match.headers.length),
    descending(match.query.length),
    route.created,
    route.route,
    // Routes of two kinds may have the same name and age.
    route.key,
    ascending(rule),
    ascending(match.index),
  ].join(separator);
}

/** A match of a route, by the positions of the rule and the match. */
export interface OwnedMatch {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly rule: number;
  readonly match: number;
}

/** Returns the match of a sort key. */
export function ofSortKey(key: string): OwnedMatch {
  const [route = '', rule = '', match = ''] = key.split(separator).slice(-3);
  return {
    ...refOfKey(route.slice(prefix.length)),
    rule: Number.parseInt(rule, 16),
    match: Number.parseInt(match, 16),
  };
}

/**
 * Returns equal strings for matches that match the same requests of one host. This is the only place that decides whether two
 * matches are equal, within a route and between routes. It compares the conditions in any order, and ignores precedence.
 */
export function requestsOf({ path: { type, value }, method, headers, query }: RouteMatch): string {
  const path = type === 'PathPrefix' ? withoutTrailingSlash(value) : value;
  return JSON.stringify([type, path, method, asSet(headers), asSet(query)]);
}

function asSet(matches: readonly NamedMatch[]): readonly string[] {
  return matches.map(({ name, type, value }) => JSON.stringify([name, type, value])).sort();
}

/** Sorts before every character of a name, so that a name precedes longer names with the same beginning. */
const separator = '\u0000';

const pathRank = { Exact: '0', RegularExpression: '1', PathPrefix: '2' } as const;

function specificity({ path, method, call }: RouteMatch): readonly string[] {
  if (call !== undefined) return [descending(call.service), descending(call.method)];
  return [pathRank[path.type] + descending(pathLength(path)), method === undefined ? '1' : '0'];
}

function hostnameRank(hostname: string): string {
  if (hostname === '') return '2';
  return hostname.startsWith('*.') ? '1' : '0';
}

function pathLength(path: RouteMatch['path']): number {
  return path.type === 'PathPrefix' ? withoutTrailingSlash(path.value).length : path.value.length;
}

/** Returns the normal form of a PathPrefix: `/abc/` and `/abc` are the same prefix, and `/` is the empty prefix. */
export function withoutTrailingSlash(prefix: string): string {
  return prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
}

const width = 8;
const largest = 16 ** width - 1;

function ascending(count: number): string {
  return count.toString(16).padStart(width, '0');
}

function descending(count: number): string {
  return ascending(largest - count);
}
