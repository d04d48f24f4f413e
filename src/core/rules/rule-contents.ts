import { display, quote } from '../text/display.ts';
import { headerKey } from '../text/header.ts';
import { unenforcedRule } from './demand.ts';
import { recorded, warned } from './effects.ts';

// What the rules of a route hold: matches that never win, backends that never get a request.

interface BackendRef {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
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
}, function* judge(rules: readonly RouteRule[]) {
  const byPath = new Map<string, SamePath>();
  for (const [index, { matches = [] }] of rules.entries()) {
    for (const [position, match] of matches.entries()) {
      const before = earlierTwin({ match, index, position }, byPath);
      if (before !== undefined) yield { below: [index, 'matches', position], message: `This match is the same as rules[${before.index}].matches[${before.position}], which comes first and gets all its requests. Remove one of them, or write what tells them apart.` };
    }
  }
});

interface Place {
  readonly match: Match;
  readonly index: number;
  readonly position: number;
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
}, function* judge({ filters = [], backendRefs = [] }: RouteRule) {
  if (backendRefs.length > 0 || filters.some(({ type = '' }) => answering.has(type))) return;
  yield { below: ['backendRefs'], message: 'This rule has no backendRefs, so its requests get an error. Write backendRefs with name and port of a Service; if they stand in a rule of their own, remove the dash before them.' };
});

export const weightsAllZero = unenforcedRule({
  id: 'weights-all-zero',
  summary: 'Every backendRef of a rule has the weight 0, so its requests get an error.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendRef.weight ("If weight is set to 0, no traffic should be forwarded for this entry")',
}, function* judge(backendRefs: readonly BackendRef[]) {
  if (backendRefs.length === 0 || backendRefs.some(({ weight = 1 }) => weight !== 0)) return;
  yield { below: [], message: 'Every backendRef of this rule has weight: 0, so no backend gets a request and all of them get an error. Give one of them a weight of at least 1.' };
});

function sameBackend(one: BackendRef, other: BackendRef): boolean {
  return (one.group ?? '') === (other.group ?? '') && (one.kind ?? 'Service') === (other.kind ?? 'Service') && one.name === other.name
    && one.namespace === other.namespace && one.port === other.port;
}

export const backendRepeated = unenforcedRule({
  id: 'backend-repeated',
  summary: 'A rule names one backend twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.backendRefs; BackendRef.weight',
}, function* judge(backendRefs: readonly (BackendRef & { readonly filters?: readonly unknown[] })[]) {
  for (const [index, ref] of backendRefs.entries()) {
    const before = backendRefs.slice(0, index).findIndex((other) => sameBackend(other, ref));
    // With filters of their own, two ways to one backend make sense.
    if (before === -1 || (ref.filters ?? []).length > 0 || (backendRefs[before]?.filters ?? []).length > 0) continue;
    yield { below: [index], value: display(ref.name ?? ''), message: `This backendRef names the same backend as backendRefs[${before}] (${quote(ref.name)}), so their weights add up. Remove one of them, or write the backend that was meant.` };
  }
});

interface Mirror extends Filter {
  readonly requestMirror?: { readonly backendRef?: BackendRef };
}

export const mirrorToBackend = unenforcedRule({
  id: 'mirror-to-backend',
  summary: 'Requests are mirrored to the backend that gets them anyway.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRequestMirrorFilter.backendRef',
}, function* judge({ filters = [], backendRefs = [] }: Omit<RouteRule, 'filters'> & { readonly filters?: readonly Mirror[] }) {
  for (const [index, { requestMirror }] of filters.entries()) {
    const target = requestMirror?.backendRef;
    const twin = target === undefined ? -1 : backendRefs.findIndex((ref) => sameBackend(ref, target));
    if (twin === -1) continue;
    yield { below: ['filters', index, 'requestMirror', 'backendRef'], value: display(target?.name ?? ''), message: `Requests are mirrored to ${quote(target?.name)}, which backendRefs[${twin}] sends them to already: it gets them twice. Name another backend, or remove the mirror.` };
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
}, function* judge({ scheme, hostname, port, path }: Redirect) {
  if (scheme !== undefined || hostname !== undefined || port !== undefined || path !== undefined) return;
  yield { below: [], message: 'This redirect leads to the address that was asked for, which clients may follow in a circle. Write scheme, hostname, port or path.' };
});

const usualPorts: ReadonlyMap<string, number> = new Map([['http', 443], ['https', 80]]);

export const redirectPortOfOtherScheme = unenforcedRule({
  id: 'redirect-port-of-other-scheme',
  summary: 'A redirect leads to the port of the other scheme.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter.scheme and .port',
}, function* judge({ scheme = '', port }: Redirect) {
  if (port === undefined || usualPorts.get(scheme) !== port) return;
  const other = scheme === 'http' ? 'https' : 'http';
  yield { below: ['port'], value: String(port), message: `Port ${port} is that of ${other}, but the redirect leads to ${scheme}. Leave port out for the one that goes with ${scheme}, or write scheme: ${other}.` };
});
