import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { display, quote } from '../text/display.ts';
import { preciseHostnameProblems, type HostnameProblemKind } from '../text/hostname.ts';
import { nearest } from '../text/suggest.ts';
import { filterLists, routeRules, unsupportedValueAt } from './parts.ts';
import type { Report } from './rule.ts';

const servedFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestRedirect', 'URLRewrite'];
const servedBackendFilters = ['RequestHeaderModifier', 'ResponseHeaderModifier'];
const pathMatchTypes = ['Exact', 'PathPrefix', 'RegularExpression'];
const valueMatchTypes = ['Exact', 'RegularExpression'];
const pathModifierTypes = ['ReplaceFullPath', 'ReplacePrefixMatch'];
const redirectSchemes = ['http', 'https'];
const redirectCodes = [301, 302, 303, 307, 308];
const maximumWeight = 1_000_000;

/** What a route asks for and does not get; leaving it out would send requests where nobody wanted them. */
export function checkRouteFeatures(route: Resource<'HTTPRoute'>, report: Report): void {
  for (const part of routeRules(route)) {
    for (const { filters, path } of filterLists(part)) {
      for (const [index, filter] of filters.entries()) checkFilter(filter, [...path, index], report);
    }
    for (const [index, { weight = 1 }] of (part.rule.backendRefs ?? []).entries()) {
      if (weight >= 0 && weight <= maximumWeight) continue;
      const path = [...part.path, 'backendRefs', index, 'weight'];
      report({ path, value: String(weight), consequence: unsupportedValueAt(path), message: `There is no weight ${weight}, so this backend answers 500 to what it gets. Write a number from 0 to ${maximumWeight}.` });
    }
    checkMatches(part.rule.matches, [...part.path, 'matches'], report);
  }
}

type RouteRuleView = NonNullable<NonNullable<Resource<'HTTPRoute'>['spec']>['rules']>[number];
type FilterView = NonNullable<RouteRuleView['filters']>[number];

function checkFilter(filter: FilterView, at: Path, report: Report): void {
  checkFilterType(filter.type ?? '', at, report);
  for (const member of ['requestRedirect', 'urlRewrite'] as const) {
    const modifier = filter[member]?.path;
    if (modifier !== undefined) expectOneOf(pathModifierTypes, { what: 'path modifier', value: modifier.type ?? '', path: [...at, member, 'path', 'type'] }, report);
    checkHostname(filter[member]?.hostname, [...at, member, 'hostname'], report);
  }
  const { scheme, statusCode, port } = filter.requestRedirect ?? {};
  const redirect = [...at, 'requestRedirect'];
  if (scheme !== undefined) expectOneOf(redirectSchemes, { what: 'scheme', value: scheme, path: [...redirect, 'scheme'] }, report);
  if (statusCode !== undefined) expectOneOf(redirectCodes.map(String), { what: 'status code of a redirect', value: String(statusCode), path: [...redirect, 'statusCode'] }, report);
  if (port !== undefined && (port < 1 || port > 65_535)) {
    const path = [...redirect, 'port'];
    report({ path, value: String(port), consequence: unsupportedValueAt(path), message: `There is no port ${port}. Write a number from 1 to 65535.` });
  }
}

/** Other faults of a hostname harm nobody else; these would end up in a header or URL. */
const unusable: ReadonlySet<string> = new Set<HostnameProblemKind>(['character', 'empty', 'wildcard']);

function checkHostname(hostname: string | undefined, path: Path, report: Report): void {
  if (hostname === undefined) return;
  const problem = preciseHostnameProblems(hostname).find(({ kind }) => unusable.has(kind));
  if (problem === undefined) return;
  report({ path, value: display(hostname), consequence: unsupportedValueAt(path), message: `${quote(hostname)} cannot stand in a URL: ${problem.message}.` });
}

function checkFilterType(type: string, at: Path, report: Report): void {
  const onBackend = at.includes('backendRefs');
  const served = onBackend ? servedBackendFilters : servedFilters;
  if (served.includes(type)) return;
  const path = [...at, 'type'];
  const unsupported = unsupportedValueAt(path);
  report({
    path,
    value: display(type),
    // An extension is a reference, and one to a kind that is unknown here does not resolve (GEP-1364).
    consequence: type === 'ExtensionRef' ? { ...unsupported, condition: 'ResolvedRefs', reason: 'InvalidKind' } : unsupported,
    message: `A filter of type ${quote(type)} ${onBackend ? 'on a backendRef ' : ''}is not served; requests that would pass it are answered 500. ${advice(type, served)}`,
  });
}

function checkMatches(matches: RouteRuleView['matches'], at: Path, report: Report): void {
  const check = (known: readonly string[], value: string | undefined, path: Path): void => {
    if (value !== undefined) expectOneOf(known, { what: 'match type', value, path }, report);
  };
  for (const [position, match] of (matches ?? []).entries()) {
    check(pathMatchTypes, match.path?.type, [...at, position, 'path', 'type']);
    for (const field of ['headers', 'queryParams'] as const) {
      for (const [index, { type }] of (match[field] ?? []).entries()) check(valueMatchTypes, type, [...at, position, field, index, 'type']);
    }
  }
}

interface Choice {
  readonly what: string;
  readonly value: string;
  readonly path: Path;
}

const outcomes: Readonly<Partial<Record<string, string>>> = { match: 'this match matches nothing', backendRef: 'this backend answers 500', rule: 'requests of this rule are answered 500' };

function expectOneOf(known: readonly string[], { what, value, path }: Choice, report: Report): void {
  if (known.includes(value)) return;
  const consequence = unsupportedValueAt(path);
  report({ path, value: display(value), consequence, message: `The ${what} ${quote(value)} is unknown, so ${outcomes[consequence.scope] ?? 'it is left out'}. ${advice(value, known)}` });
}

function advice(value: string, known: readonly string[]): string {
  const near = nearest(value, known);
  return near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean ${near}?`;
}
