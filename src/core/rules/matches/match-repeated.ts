import { formatPath, type Path } from '../../resources/path.ts';
import { headerKey } from '../../text/header.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Match, NamedMatch, RouteRule } from '../routes/rule-contents.ts';

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
