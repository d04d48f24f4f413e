import type { RouteRequest } from '../../src/core/routing/match-conditions.ts';
import type { RouteConfig, RouteMatch, RouteRule } from '../../src/core/routing/config.ts';

/** A match that every request meets, but for what is given. */
export function routeMatch(parts: Partial<RouteMatch> = {}): RouteMatch {
  return { index: 0, path: { type: 'PathPrefix', value: '/' }, headers: [], query: [], ...parts };
}

/** A rule of these matches that forwards nowhere. */
export function routeRule(index: number, ...matches: readonly RouteMatch[]): RouteRule {
  return { index, matches: matches.map((match, index) => routeMatch({ ...match, index })), filters: [], backends: [] };
}

/** A route on the listener `web` without hostnames, with the one rule given or its own `rules`. */
export function routeConfig(name: string, parts: Partial<RouteConfig> = {}): RouteConfig {
  return {
    kind: 'route',
    key: `route/${name}`,
    route: name,
    created: '2026-01-01T00:00:00Z',
    attachments: [{ listener: 'web', hostnames: [''] }],
    rules: [routeRule(0, routeMatch())],
    generation: 1,
    ...parts,
  };
}

/** A GET, with headers (names in lower case) and query parameters as records. */
export function routeRequest(
  url: string,
  parts: { method?: string; headers?: Record<string, string> } = {},
): RouteRequest {
  const { hostname, pathname, searchParams } = new URL(url);
  return {
    host: hostname,
    path: pathname,
    method: parts.method ?? 'GET',
    header: (name) => parts.headers?.[name],
    query: (name) => searchParams.get(name) ?? undefined,
  };
}
