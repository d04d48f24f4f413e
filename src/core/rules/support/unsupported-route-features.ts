import { isLayer4, type Layer4RouteKind, type RequestRouteKind, type ServedRouteKind } from '../../graph/protocols.ts';
import type { MatchView, RouteRuleView } from '../../graph/route-views.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { expectOneOf, expectWithin } from './known-values.ts';
import { filterLists, routeRules, type RouteRulePart } from '../engine/parts.ts';
import type { ReportFinding } from '../engine/rule.ts';
import { enumsOf, sessionParts } from '../sessions/sessions.ts';
import { checkFilter } from './unsupported-filters.ts';

const pathMatchTypes = ['Exact', 'PathPrefix', 'RegularExpression'];
const valueMatchTypes = ['Exact', 'RegularExpression'];
const maximumWeight = 1_000_000;

/** Reports unsupported settings of a route. Ignoring them would send requests to unintended backends. */
export function checkRouteFeatures(route: Resource<ServedRouteKind>, report: ReportFinding): void {
  for (const { rule, path } of routeRules(route)) {
    for (const [index, { weight }] of (rule.backendRefs ?? []).entries()) {
      expectWithin(
        [0, maximumWeight],
        { what: 'weight', value: weight, path: () => [...path, 'backendRefs', index, 'weight'] },
        report,
      );
    }
  }
  if (ofLayer4(route)) checkLayer4Rules(route, report);
  else checkRequestRoute(route, report);
}

function ofLayer4(route: Resource<ServedRouteKind>): route is Resource<Layer4RouteKind> {
  return isLayer4(route.kind);
}

/** Layer 4 rules have no matches, so nothing can select between them. Since v1, only one rule is allowed. */
function checkLayer4Rules(route: Resource<Layer4RouteKind>, report: ReportFinding): void {
  for (const { path } of routeRules(route).slice(1)) {
    report({
      path,
      message: `A ${route.kind} forwards all traffic by its first rule, so this rule is ignored. Move its backendRefs to spec.rules[0], or to a ${route.kind} of its own.`,
    });
  }
}

function checkRequestRoute(route: Resource<RequestRouteKind>, report: ReportFinding): void {
  for (const part of routeRules(route)) {
    for (const { filters, path } of filterLists(part)) {
      for (const [index, filter] of filters.entries())
        checkFilter(filter, { kind: route.kind, path: [...path, index] }, report);
    }
  }
  for (const { session, path } of sessionParts(route)) {
    for (const { below, value, known } of enumsOf(session))
      expectOneOf(known, { what: below.at(-1) ?? '', value, path: () => [...path, ...below] }, report);
  }
  if (route.kind === 'GRPCRoute') checkCallRules(routeRules(route), report);
  else checkRequestRules(routeRules(route), report);
}

function checkRequestRules(parts: readonly RouteRulePart<'HTTPRoute'>[], report: ReportFinding): void {
  for (const { rule, path } of parts) {
    for (const [position, match] of (rule.matches ?? []).entries())
      checkMatch(match, [...path, 'matches', position], report);
    if (rule.retry !== undefined) checkRetry(rule.retry, [...path, 'retry'], report);
  }
}

function checkMatch({ path, headers, queryParams }: MatchView<'HTTPRoute'>, at: Path, report: ReportFinding): void {
  expectOneOf(pathMatchTypes, { what: 'match type', value: path?.type, path: () => [...at, 'path', 'type'] }, report);
  checkValueMatches(headers, () => [...at, 'headers'], report);
  checkValueMatches(queryParams, () => [...at, 'queryParams'], report);
}

function checkValueMatches(
  matches: readonly { readonly type?: string }[] | undefined,
  at: () => Path,
  report: ReportFinding,
): void {
  for (const [index, { type }] of (matches ?? []).entries()) {
    expectOneOf(valueMatchTypes, { what: 'match type', value: type, path: () => [...at(), index, 'type'] }, report);
  }
}

function checkCallRules(parts: readonly RouteRulePart<'GRPCRoute'>[], report: ReportFinding): void {
  for (const { rule, path } of parts) {
    for (const [position, { method, headers }] of (rule.matches ?? []).entries()) {
      const at = [...path, 'matches', position];
      expectOneOf(
        valueMatchTypes,
        { what: 'match type', value: method?.type, path: () => [...at, 'method', 'type'] },
        report,
      );
      checkValueMatches(headers, () => [...at, 'headers'], report);
    }
  }
}

/** The invalid codes of a rule that are reported. One of them is enough for the rule to fail. */
const mostInvalidCodes = 100;

function checkRetry(
  { attempts, codes }: NonNullable<RouteRuleView<'HTTPRoute'>['retry']>,
  at: Path,
  report: ReportFinding,
): void {
  expectWithin([0, Infinity], { what: 'number of attempts', value: attempts, path: () => [...at, 'attempts'] }, report);
  let invalid = 0;
  const count: ReportFinding = (finding) => {
    invalid += 1;
    return report(finding);
  };
  for (const [index, code] of (codes ?? []).entries()) {
    expectWithin([400, 599], { what: 'code to retry after', value: code, path: () => [...at, 'codes', index] }, count);
    if (invalid === mostInvalidCodes) return;
  }
}
