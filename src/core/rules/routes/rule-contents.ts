import { formatPath, type Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { unenforcedRule, type ReportViolation } from '../engine/demand.ts';
import { recorded, warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

// What the rules of a route hold: matches that never win, backends that never get a request.

interface BackendRef {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly unknown[];
}

interface NamedMatch {
  readonly name?: string;
  readonly type?: string;
  readonly value?: string;
}

interface Match {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly method?: string | { readonly type?: string; readonly service?: string; readonly method?: string };
  readonly headers?: readonly NamedMatch[];
  readonly queryParams?: readonly NamedMatch[];
}

interface Filter {
  readonly type?: string;
}

interface RouteRule {
  readonly matches?: readonly Match[];
  readonly filters?: readonly Filter[];
  readonly backendRefs?: readonly BackendRef[];
}

/** The path as it is compared: a slash at the end of a prefix means nothing. */
function pathOf({ path: { type = 'PathPrefix', value = '/' } = {} }: Match): string {
  return type === 'PathPrefix' && value.length > 1 && value.endsWith('/') ? value.slice(0, -1) : value;
}

/** A text that is the same for matches of the same requests. */
function meaningOf(match: Match): string {
  const { path: { type = 'PathPrefix' } = {}, method, headers = [], queryParams = [] } = match;
  const call = typeof method === 'object' ? [method.type ?? 'Exact', method.service ?? '', method.method ?? ''] : method ?? '';
  const byName = (named: readonly NamedMatch[], key: (name: string) => string): readonly string[] =>
    named.map(({ name = '', type: how = 'Exact', value: wanted }) => JSON.stringify([key(name), how, wanted])).toSorted();
  return JSON.stringify([type, pathOf(match), call, byName(headers, headerKey), byName(queryParams, (name) => name)]);
}

export const matchRepeated = unenforcedRule({
  id: 'match-repeated',
  summary: 'A match stands in a route twice, so the later one never gets a request.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.matches and GRPCRouteRule.matches ("the first matching rule (in list order)")',
}, function judge(rules: readonly RouteRule[], report) {
  const byPath = new Map<string, SamePath>();
  for (const [index, { matches = [] }] of rules.entries()) {
    for (const place of matches.length === 0 ? [{ match: {}, below: [index, 'matches'] }] : matches.map((match, position) => ({ match, below: [index, 'matches', position] }))) {
      const before = earlierTwin(place, byPath);
      if (before === undefined) continue;
      const subject = matches.length === 0 ? 'This rule has no matches, so it takes the same requests' : 'This match is the same';
      report({ below: place.below, message: `${subject} as ${formatPath(['rules', ...before.below])}, which comes first and gets all its requests. Remove one of them, or write what tells them apart.` });
    }
  }
});

/** A match and where it stands among the rules; a rule without matches takes every request. */
interface Place {
  readonly match: Match;
  readonly below: Path;
}

/** Matches of one path. Most have theirs for themselves, and are not written out. */
interface SamePath {
  readonly first: Place;
  byMeaning?: Map<string, Place>;
}

/** The first match of the same requests, which `place` becomes where there is none. */
function earlierTwin(place: Place, byPath: Map<string, SamePath>): Place | undefined {
  const path = pathOf(place.match);
  const others = byPath.get(path);
  if (others === undefined) {
    byPath.set(path, { first: place });
    return undefined;
  }
  const byMeaning = (others.byMeaning ??= new Map([[meaningOf(others.first.match), others.first]]));
  const meaning = meaningOf(place.match);
  const twin = byMeaning.get(meaning);
  if (twin === undefined) byMeaning.set(meaning, place);
  return twin;
}

/** Filters after which no backend is needed, or of which nobody knows. */
const answering: ReadonlySet<string> = new Set(['RequestRedirect', 'ExtensionRef']);

export const ruleWithoutBackend = unenforcedRule({
  id: 'rule-without-backend',
  summary: 'A rule has neither backendRefs nor a filter that answers, so its requests get an error.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.backendRefs and GRPCRouteRule.backendRefs ("If unspecified or invalid ... 500")',
}, function judge({ filters = [], backendRefs = [] }: RouteRule, report) {
  if (backendRefs.length > 0 || filters.some(({ type = '' }) => answering.has(type))) return;
  report({ below: ['backendRefs'], message: 'This rule has no backendRefs, so its requests get an error. Write backendRefs with name and port of a Service; if they stand in a rule of their own, remove the dash before them.' });
});

export const weightsAllZero = unenforcedRule({
  id: 'weights-all-zero',
  summary: 'Every backendRef of a rule has the weight 0, so its requests get an error.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendRef.weight ("If weight is set to 0, no traffic should be forwarded for this entry")',
}, function judge(backendRefs: readonly BackendRef[], report) {
  if (backendRefs.length === 0 || backendRefs.some(({ weight = 1 }) => weight !== 0)) return;
  report({ below: [], message: 'Every backendRef of this rule has weight: 0, so no backend gets a request and all of them get an error. Give one of them a weight of at least 1.' });
});

/** A text that is the same for references of a route in `namespace` to the same backend. */
function backendOf({ group = '', kind = 'Service', name, namespace, port }: BackendRef, own: string): string {
  return JSON.stringify([group, kind, name, namespace ?? own, port]);
}

type Route<R = RouteRule> = WholeObject<{ readonly rules?: readonly R[] }>;

export const backendRepeated = unenforcedRule({
  id: 'backend-repeated',
  summary: 'A rule names one backend twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.backendRefs; BackendRef.weight',
}, function judge({ metadata, spec }: Route, report) {
  for (const [position, { backendRefs = [] }] of (spec?.rules ?? []).entries()) {
    if (backendRefs.length > 1) repeatedBackends(backendRefs, ['spec', 'rules', position, 'backendRefs'], metadata.namespace, report);
  }
});

function repeatedBackends(backendRefs: readonly BackendRef[], at: Path, own: string, report: ReportViolation): void {
  const first = new Map<string, number>();
  for (const [index, ref] of backendRefs.entries()) {
    // With filters of their own, two ways to one backend make sense.
    if ((ref.filters ?? []).length > 0) continue;
    const key = backendOf(ref, own);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else report({ below: [...at, index], value: display(ref.name ?? ''), message: `This backendRef names the same backend as backendRefs[${before}] (${quote(ref.name)}), so their weights add up. Remove one of them, or write the backend that was meant.` });
  }
}

interface Mirror extends Filter {
  readonly requestMirror?: { readonly backendRef?: BackendRef };
}

interface MirroringRule {
  readonly filters?: readonly Mirror[];
  readonly backendRefs?: readonly BackendRef[];
}

export const mirrorToBackend = unenforcedRule({
  id: 'mirror-to-backend',
  summary: 'Requests are mirrored to the backend that gets them anyway.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRequestMirrorFilter.backendRef',
}, function judge({ metadata: { namespace }, spec }: Route<MirroringRule>, report) {
  for (const [position, { filters = [], backendRefs = [] }] of (spec?.rules ?? []).entries()) {
    for (const [index, { requestMirror }] of filters.entries()) {
      const target = requestMirror?.backendRef;
      const twin = target === undefined ? -1 : backendRefs.findIndex((ref) => backendOf(ref, namespace) === backendOf(target, namespace));
      if (twin === -1) continue;
      report({ below: ['spec', 'rules', position, 'filters', index, 'requestMirror', 'backendRef'], value: display(target?.name ?? ''), message: `Requests are mirrored to ${quote(target?.name)}, which backendRefs[${twin}] sends them to already: it gets them twice. Name another backend, or remove the mirror.` });
    }
  }
});

interface Redirect {
  readonly scheme?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: object;
}

/** A status code alone is what some use it for. */
export const redirectWithoutChange = unenforcedRule({
  id: 'redirect-without-change',
  summary: 'A redirect changes neither scheme, hostname, port nor path.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter',
}, function judge({ scheme, hostname, port, path }: Redirect, report) {
  if (scheme !== undefined || hostname !== undefined || port !== undefined || path !== undefined) return;
  report({ below: [], message: 'This redirect leads to the address that was asked for, which clients may follow in a circle. Write scheme, hostname, port or path.' });
});

const usualPorts: ReadonlyMap<string, number> = new Map([['http', 443], ['https', 80]]);

export const redirectPortOfOtherScheme = unenforcedRule({
  id: 'redirect-port-of-other-scheme',
  summary: 'A redirect leads to the port of the other scheme.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter.scheme and .port',
}, function judge({ scheme = '', port }: Redirect, report) {
  if (port === undefined || usualPorts.get(scheme) !== port) return;
  const other = scheme === 'http' ? 'https' : 'http';
  report({ below: ['port'], value: String(port), message: `Port ${port} is that of ${other}, but the redirect leads to ${scheme}. Leave port out for the one that goes with ${scheme}, or write scheme: ${other}.` });
});
