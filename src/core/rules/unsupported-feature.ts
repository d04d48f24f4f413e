import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { nearest } from '../text/suggest.ts';
import { rule, type Report, type Scope } from './rule.ts';

const servedFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestRedirect', 'URLRewrite'];
const servedBackendFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier'];
const pathMatchTypes = ['Exact', 'PathPrefix', 'RegularExpression'];
const valueMatchTypes = ['Exact', 'RegularExpression'];
const pathModifierTypes = ['ReplaceFullPath', 'ReplacePrefixMatch'];

/**
 * Every enum is open: a newer bundle may store values that are unknown here, and some known features are not served
 * yet. What cannot be done is never skipped silently: a match matches nothing, a rule or backend answers 500.
 */
export const unsupportedFeature = rule({
  id: 'unsupported-feature',
  kinds: ['HTTPRoute'],
  about: 'dialect',
  summary: 'The route uses a value or feature that is unknown or not served yet.',
  effect: { audit: 'record', standard: 'warn', strict: 'deny' },
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteFilter.type, HTTPPathMatch.type ("Unknown values must result in ... UnsupportedValue")',
  check(route, _read, report) {
    for (const [index, routeRule] of (route.spec?.rules ?? []).entries()) {
      const at: Path = ['spec', 'rules', index];
      checkFilters(routeRule.filters, { at: [...at, 'filters'], scope: 'rule', served: servedFilters }, report);
      for (const [position, backend] of (routeRule.backendRefs ?? []).entries()) {
        checkFilters(backend.filters, { at: [...at, 'backendRefs', position, 'filters'], scope: 'backendRef', served: servedBackendFilters }, report);
      }
      checkMatches(routeRule.matches, [...at, 'matches'], report);
    }
  },
});

/** Leaving these out makes no request go astray, so the rule keeps working without them, and says so. */
export const featureWithoutEffect = rule({
  id: 'feature-without-effect',
  kinds: ['HTTPRoute'],
  about: 'dialect',
  summary: 'The route asks for a feature that is not served yet; the rest of the rule works.',
  effect: { audit: 'record', standard: 'warn', strict: 'warn' },
  source: 'Gateway API v1.7.0, HTTPRouteRule.retry and .sessionPersistence (extended support)',
  check(route, _read, report) {
    for (const [index, routeRule] of (route.spec?.rules ?? []).entries()) {
      for (const field of ['retry', 'sessionPersistence'] as const) {
        if (routeRule[field] === undefined) continue;
        report({ path: ['spec', 'rules', index, field], message: `${field} is not served yet and has no effect; the rule works without it. Remove it unless another controller serves this route.` });
      }
    }
  },
});

type RouteRuleView = NonNullable<NonNullable<Resource<'HTTPRoute'>['spec']>['rules']>[number];

interface FilterPlace {
  readonly at: Path;
  readonly scope: Scope;
  readonly served: readonly string[];
}

function checkFilters(filters: RouteRuleView['filters'], place: FilterPlace, report: Report): void {
  for (const [position, filter] of (filters ?? []).entries()) {
    const at = [...place.at, position];
    const type = filter.type ?? '';
    const consequence = { condition: 'Accepted', reason: 'UnsupportedValue', scope: place.scope };
    if (!place.served.includes(type)) {
      const reference = type === 'ExtensionRef' ? { consequence: { condition: 'ResolvedRefs', reason: 'InvalidKind', scope: place.scope } } : { consequence };
      report({ path: [...at, 'type'], value: type, ...reference, message: `A filter of type ${quote(type)} ${place.scope === 'backendRef' ? 'on a backendRef ' : ''}is not served; requests that would pass it are answered 500. ${advice(type, place.served)}` });
    }
    for (const member of ['requestRedirect', 'urlRewrite'] as const) {
      const modifier = filter[member]?.path;
      if (modifier !== undefined && !pathModifierTypes.includes(modifier.type ?? '')) {
        report({ path: [...at, member, 'path', 'type'], value: modifier.type ?? '', consequence, message: `The path modifier ${quote(modifier.type)} is unknown. ${advice(modifier.type, pathModifierTypes)}` });
      }
    }
  }
}

function checkMatches(matches: RouteRuleView['matches'], at: Path, report: Report): void {
  for (const [position, match] of (matches ?? []).entries()) {
    checkMatchType(match.path?.type, { path: [...at, position, 'path', 'type'], known: pathMatchTypes }, report);
    for (const field of ['headers', 'queryParams'] as const) {
      for (const [index, item] of (match[field] ?? []).entries()) {
        checkMatchType(item.type, { path: [...at, position, field, index, 'type'], known: valueMatchTypes }, report);
      }
    }
  }
}

function checkMatchType(type: string | undefined, place: { readonly path: Path; readonly known: readonly string[] }, report: Report): void {
  if (type === undefined || place.known.includes(type)) return;
  report({
    path: place.path,
    value: type,
    consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
    message: `The match type ${quote(type)} is unknown, so this match matches nothing. ${advice(type, place.known)}`,
  });
}

function quote(type: string | undefined): string {
  return type === undefined || type === '' ? '(none)' : type;
}

function advice(type: string | undefined, known: readonly string[]): string {
  const near = nearest(type ?? '', known);
  return near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean ${near}?`;
}
