import type { RequestRouteKind, ServedRouteKind } from '../../graph/protocols.ts';
import type { FilterView, RouteRuleView } from '../../graph/route-views.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Consequence, Scope } from './rule.ts';

// The parts of an object that several rules look at, each with its path.

export interface RouteRulePart<K extends ServedRouteKind = ServedRouteKind> {
  readonly path: Path;
  readonly rule: RouteRuleView<K>;
}

export interface FilterList {
  readonly path: Path;
  readonly filters: readonly FilterView[];
}

/** The rules of a route in order. */
export function routeRules<K extends ServedRouteKind>(route: Resource<K>): readonly RouteRulePart<K>[];
export function routeRules(route: Resource<ServedRouteKind>): readonly RouteRulePart[] {
  return (route.spec?.rules ?? []).map((rule, index) => ({ rule, path: ['spec', 'rules', index] }));
}

/** The filter lists of one rule: its own first, then those of its backendRefs that have any. */
export function filterLists({ rule, path }: RouteRulePart<RequestRouteKind>): readonly FilterList[] {
  const ofBackends = (rule.backendRefs ?? []).flatMap(({ filters }, index) => (
    filters === undefined ? [] : [{ path: [...path, 'backendRefs', index, 'filters'], filters }]
  ));
  return [{ path: [...path, 'filters'], filters: rule.filters ?? [] }, ...ofBackends];
}

/** The narrowest part of an object that can be switched off because of what stands at `path`. */
function scopeAt(path: Path): Scope {
  const [, list, , member, position] = path;
  if (list === 'listeners') return 'listener';
  if (list !== 'rules') return 'object';
  if (member === 'matches' && position !== undefined) return 'match';
  return member === 'backendRefs' && position !== undefined ? 'backendRef' : 'rule';
}

/** A value that cannot be used switches off no more than the part it belongs to. */
export function unsupportedValueAt(path: Path): Consequence {
  return { condition: 'Accepted', reason: 'UnsupportedValue', scope: scopeAt(path) };
}

/** Filters that do not go together switch off the rule or backendRef they stand on. */
export function incompatibleFiltersAt(path: Path): Consequence {
  return { condition: 'Accepted', reason: 'IncompatibleFilters', scope: scopeAt(path) };
}

/** A reference that leads nowhere costs its own part of the traffic; that of a mirror costs copies only. */
export function referenceUnresolvedAt(path: Path, reason = 'BackendNotFound'): Consequence {
  return { condition: 'ResolvedRefs', reason, scope: path.includes('requestMirror') ? 'mirror' : scopeAt(path) };
}

/** How the match that a value stands in compares: its sibling `type`, or the default that goes for it. */
export function matchType(match: unknown, byDefault: string): unknown {
  return typeof match === 'object' && match !== null && 'type' in match ? match.type : byDefault;
}
