import type { RouteConfig, RouteMatch } from './config.ts';

/** One way into a route: one of its own hostnames (`''` for none) with one match of one of its rules. */
export interface Precedence {
  readonly hostname: string;
  readonly route: Pick<RouteConfig, 'key' | 'created' | 'route' | 'protocol'>;
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
