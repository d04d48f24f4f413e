import type { Resource } from '../resources/resource.ts';
import type { ServedRouteKind } from './protocols.ts';
import type { NamedMatch, RouteMatch } from './route-match.ts';

/** What tells a route apart from others. */
export interface RouteIdentity {
  /** `route/<kind>/<namespace>/<name>`: unique over all kinds of configuration. */
  readonly key: string;
  /** `namespace/name`. */
  readonly route: string;
  /** Set for a GRPCRoute. */
  readonly protocol?: 'grpc';
  /** `ObjectMeta.created`; older sorts first. */
  readonly created: string;
}

/** What tells a route apart from others, as precedence and configuration have it. */
export function routeIdentity({ kind, ref: { namespace, name }, meta: { created } }: Resource<ServedRouteKind>): RouteIdentity {
  return { key: `route/${kind}/${namespace}/${name}`, route: `${namespace}/${name}`, ...(kind === 'GRPCRoute' ? { protocol: 'grpc' } : {}), created };
}

/** One way into a route: one of its own hostnames (`''` for none) with one match of one of its rules. */
export interface Precedence {
  readonly hostname: string;
  readonly route: RouteIdentity;
  /** Position in spec.rules. */
  readonly rule: number;
  readonly match: RouteMatch;
}

/**
 * The total order of entries as one string: what sorts first (by UTF-16 code units) is tried first.
 * In order of weight (`hostnames` and `rules[].matches` of HTTPRoute and GRPCRoute, Gateway API v1.7):
 * the route's own hostname (exact, then wildcard, then none; longer first), then what its kind compares, more headers,
 * more query parameters, the older route, `namespace/name`, the rule's position, the match's position.
 *
 * A GRPCRoute compares the characters of service and method. It stands before every HTTPRoute of the same hostname:
 * rules of both must not be merged into one order, and it takes gRPC requests only, so that both can be served.
 * An HTTPRoute compares the path (Exact, then RegularExpression, then PathPrefix; longer first), then a method.
 * The place of RegularExpression is implementation-specific. It stands before every PathPrefix, whatever the
 * lengths: an expression is written to single out some paths below a prefix, and the length of its text says nothing.
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
    // Routes of two kinds may share their name and age.
    route.key,
    ascending(rule),
    ascending(match.index),
  ].join(separator);
}

/** A match of a route, by the positions of its rule and of itself. */
export interface OwnedMatch {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly rule: number;
  readonly match: number;
}

/** The match that a sort key stands for. */
export function ofSortKey(key: string): OwnedMatch {
  const [route = '', rule = '', match = ''] = key.split(separator).slice(-3);
  const [, kind = '', namespace = '', name = ''] = route.split('/');
  return { kind, namespace, name, rule: Number.parseInt(rule, 16), match: Number.parseInt(match, 16) };
}

/**
 * The same text for matches of the same requests of one host. Whether two matches are equal is decided here alone, within a route and
 * between routes. The conditions count, in whatever order, and not what gives precedence.
 */
export function requestsOf({ path: { type, value }, method, headers, query }: RouteMatch): string {
  const path = type === 'PathPrefix' ? withoutTrailingSlash(value) : value;
  return JSON.stringify([type, path, method, asSet(headers), asSet(query)]);
}

function asSet(matches: readonly NamedMatch[]): readonly string[] {
  return matches.map(({ name, type, value }) => JSON.stringify([name, type, value])).sort();
}

/** Sorts before every character of a name, so that a name comes before the names it begins. */
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

/** A PathPrefix in its plain form: `/abc/` and `/abc` are the same prefix, `/` is the empty one. */
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
