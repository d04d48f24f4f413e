import type { OwnedMatch } from '../../graph/matches/precedence.ts';
import type { RequestRouteKind, ServedRouteKind } from '../../graph/protocols.ts';
import type { FilterView, RouteRuleView } from '../../graph/route-views.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { textOf } from '../../text/record.ts';
import type { Consequence, Scope } from './rule.ts';

// The parts of an object that several rules check, with their paths.

export interface RouteRulePart<K extends ServedRouteKind = ServedRouteKind> {
  readonly path: Path;
  readonly rule: RouteRuleView<K>;
}

export interface FilterList {
  readonly path: Path;
  readonly filters: readonly FilterView[];
}

/** Returns the rules of a route in order. */
export function routeRules<K extends ServedRouteKind>(route: Resource<K>): readonly RouteRulePart<K>[];
export function routeRules(route: Resource<ServedRouteKind>): readonly RouteRulePart[] {
  const rules = route.spec?.rules ?? noRules;
  if (last?.rules !== rules)
    last = { rules, parts: rules.map((rule, index) => ({ rule, path: ['spec', 'rules', index] })) };
  return last.parts;
}

const noRules: readonly RouteRuleView<ServedRouteKind>[] = [];
// About ten rules check the rules of a route one after the other. Caching more than the last route would cost memory for each.
let last:
  | { readonly rules: readonly RouteRuleView<ServedRouteKind>[]; readonly parts: readonly RouteRulePart[] }
  | undefined;

type MatchPosition = Pick<OwnedMatch, 'rule' | 'match'>;

/** Returns the path of the match as written, of the list if there is no match, or of the rule for layer 4 routes. */
export function matchPath(route: Resource<ServedRouteKind>, { rule: index, match }: MatchPosition): Path {
  const path = ['spec', 'rules', index];
  if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') return path;
  const isWritten = (route.spec?.rules?.[index]?.matches ?? []).length > 0;
  return [...path, 'matches', ...(isWritten ? [match] : [])];
}

/** Returns the filter lists of one rule: first its own, then those of its backendRefs that have any. */
export function filterLists({ rule, path }: RouteRulePart<RequestRouteKind>): readonly FilterList[] {
  const ofBackends = (rule.backendRefs ?? []).flatMap(({ filters }, index) =>
    filters === undefined ? [] : [{ path: [...path, 'backendRefs', index, 'filters'], filters }],
  );
  return [{ path: [...path, 'filters'], filters: rule.filters ?? [] }, ...ofBackends];
}

/** Returns the smallest part of an object that can be disabled because of the value at `path`. */
function scopeAt(path: Path): Scope {
  const [, list, , member, position] = path;
  if (list === 'listeners') return member === 'filters' ? 'listenerFilter' : 'listener';
  if (list !== 'rules') return 'object';
  if (member === 'matches' && position !== undefined) return 'match';
  return member === 'backendRefs' && position !== undefined ? 'backendRef' : 'rule';
}

/** Returns the consequence of an unsupported value, which disables only its part of the object. */
export function unsupportedValueAt(path: Path): Consequence {
  const scope = scopeAt(path);
  // GEP-5224 has a reason of its own. Only an unsupported type of a filter has the reason UnsupportedValue.
  const reason = scope === 'listenerFilter' && path.at(-1) !== 'type' ? 'InvalidListenerFilter' : 'UnsupportedValue';
  return { condition: 'Accepted', reason, scope };
}

/** The consequence of an invalid policy or backend: it is not accepted as a whole. */
export const invalidObject: Consequence = { condition: 'Accepted', reason: 'Invalid', scope: 'object' };

/** Returns the consequence of incompatible filters, which disable their rule or backendRef. */
export function incompatibleFiltersAt(path: Path): Consequence {
  return { condition: 'Accepted', reason: 'IncompatibleFilters', scope: scopeAt(path) };
}

/**
 * Returns the consequence of an unresolved reference, which disables only its part of the traffic. The reference of a mirror
 * affects only the copies.
 */
export function referenceUnresolvedAt(path: Path, reason = 'BackendNotFound'): Consequence {
  const scope = path.includes('requestMirror') ? 'mirror' : scopeAt(path);
  const isOwn = scope === 'listenerFilter' && reason !== 'RefNotPermitted';
  return { condition: 'ResolvedRefs', reason: isOwn ? 'InvalidListenerFilterRef' : reason, scope };
}

/** Returns the match type of a value as written: its sibling `type`. `''` if it is unreadable. */
export function writtenMatchType(match: unknown): string | undefined {
  return typeof match === 'object' && match !== null && 'type' in match ? textOf(match.type) : undefined;
}
