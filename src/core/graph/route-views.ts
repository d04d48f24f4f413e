import type { Resource } from '../resources/resource.ts';
import type { RequestRouteKind, ServedRouteKind } from './protocols.ts';

// The parts of a route as a tolerant reader sees them: everything is optional, every enum open.

/** One of spec.rules. */
export type RouteRuleView<K extends ServedRouteKind> = NonNullable<NonNullable<Resource<K>['spec']>['rules']>[number];

/** One of spec.rules[].matches. */
export type MatchView<K extends RequestRouteKind> = NonNullable<RouteRuleView<K>['matches']>[number];

/** A filter of a rule or backendRef. HTTPRoute has all types, other kinds have some of them. */
export type FilterView = NonNullable<RouteRuleView<'HTTPRoute'>['filters']>[number];

/** spec.hostnames as written; none where the kind of the route has no hostnames. */
export function hostnamesOf(route: Resource<ServedRouteKind>): readonly string[] {
  return route.kind === 'TCPRoute' || route.kind === 'UDPRoute' ? [] : (route.spec?.hostnames ?? []);
}
