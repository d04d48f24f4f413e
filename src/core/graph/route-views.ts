import type { Resource } from '../resources/resource.ts';
import type { RequestRouteKind, ServedRouteKind } from './protocols.ts';

// The parts of a route as read by a tolerant reader: all fields are optional, and enums may have unknown values.

/** One of spec.rules. */
export type RouteRuleView<K extends ServedRouteKind> = NonNullable<NonNullable<Resource<K>['spec']>['rules']>[number];

/** One of spec.rules[].matches. */
export type MatchView<K extends RequestRouteKind> = NonNullable<RouteRuleView<K>['matches']>[number];

/** A filter of a rule or backendRef. HTTPRoute has all types, other kinds have only some. */
export type FilterView = NonNullable<RouteRuleView<'HTTPRoute'>['filters']>[number];

/** Returns spec.hostnames as written; an empty list for kinds without hostnames. */
export function hostnamesOf(route: Resource<ServedRouteKind>): readonly string[] {
  return route.kind === 'TCPRoute' || route.kind === 'UDPRoute' ? [] : (route.spec?.hostnames ?? []);
}
