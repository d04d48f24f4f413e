import type { RouteRuleView } from '../graph/route-views.ts';
import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { expectOneOf, expectWithin } from './known-values.ts';
import { filterLists, routeRules } from './parts.ts';
import type { Report } from './rule.ts';
import { checkFilter } from './unsupported-filters.ts';

const pathMatchTypes = ['Exact', 'PathPrefix', 'RegularExpression'];
const valueMatchTypes = ['Exact', 'RegularExpression'];
const maximumWeight = 1_000_000;

/** What a route asks for and does not get; leaving it out would send requests where nobody wanted them. */
export function checkRouteFeatures(route: Resource<'HTTPRoute'>, report: Report): void {
  for (const part of routeRules(route)) {
    for (const { filters, path } of filterLists(part)) {
      for (const [index, filter] of filters.entries()) checkFilter(filter, [...path, index], report);
    }
    for (const [index, { weight }] of (part.rule.backendRefs ?? []).entries()) {
      expectWithin([0, maximumWeight], { what: 'weight', value: weight, path: [...part.path, 'backendRefs', index, 'weight'] }, report);
    }
    checkMatches(part.rule.matches, [...part.path, 'matches'], report);
    if (part.rule.retry !== undefined) checkRetry(part.rule.retry, [...part.path, 'retry'], report);
  }
}

function checkMatches(matches: RouteRuleView<'HTTPRoute'>['matches'], at: Path, report: Report): void {
  for (const [position, match] of (matches ?? []).entries()) {
    expectOneOf(pathMatchTypes, { what: 'match type', value: match.path?.type, path: [...at, position, 'path', 'type'] }, report);
    for (const field of ['headers', 'queryParams'] as const) {
      for (const [index, { type }] of (match[field] ?? []).entries()) {
        expectOneOf(valueMatchTypes, { what: 'match type', value: type, path: [...at, position, field, index, 'type'] }, report);
      }
    }
  }
}

function checkRetry({ attempts, codes }: NonNullable<RouteRuleView<'HTTPRoute'>['retry']>, at: Path, report: Report): void {
  expectWithin([0, Infinity], { what: 'number of attempts', value: attempts, path: [...at, 'attempts'] }, report);
  for (const [index, code] of (codes ?? []).entries()) {
    expectWithin([400, 599], { what: 'code to retry after', value: code, path: [...at, 'codes', index] }, report);
  }
}
