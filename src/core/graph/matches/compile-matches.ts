import { type ViewAt } from '../../schema/index.ts';
import { fitted } from '../../text/fitted.ts';
import { headerKey } from '../../text/header.ts';
import { canonicalSpelling } from '../../text/path.ts';
import type { NamedMatch, RouteMatch, StringMatchType } from './route-match.ts';
import type { MatchView } from '../route-views.ts';
import { matchTypeOf, pathMatchOf } from '../../semantics/intended.ts';

/** The match of a rule without matches: every path. The API server adds it as a default. */
export const everything: RouteMatch = { index: 0, path: compilePath(undefined), headers: [], query: [] };

/**
 * Compiles the matches of an HTTPRoute rule for a data plane. Matches for which `isInvalid` returns true are left out, so they
 * match nothing. Defaults are those of the CRD: without matches, or without a path, every path matches. The match of a rule without
 * matches has position 0.
 */
export function compileMatches(
  matches: readonly MatchView<'HTTPRoute'>[] | undefined,
  isInvalid: (index: number) => boolean,
): readonly RouteMatch[] {
  const all = matches === undefined || matches.length === 0 ? [everything] : matches.map(compileMatch);
  return fitted(all.filter(({ index }) => !isInvalid(index)));
}

/** Compiles a match of an HTTPRoute at a position of its rule, valid or not. */
export function compileMatch(match: MatchView<'HTTPRoute'>, index: number): RouteMatch {
  const { method } = match;
  const path = compilePath(match.path);
  const headers = compileHeaders(match.headers);
  const query = firstOfEach((match.queryParams ?? []).map((parameter) => namedMatch(parameter, parameter.name ?? '')));
  return method === undefined ? { index, path, headers, query } : { index, path, method, headers, query };
}

/** Requests are matched in normalized form, so path values must be normalized, too. */
function compilePath(view: MatchView<'HTTPRoute'>['path']): RouteMatch['path'] {
  const { type, value } = pathMatchOf(view);
  return {
    type: type as RouteMatch['path']['type'],
    value: type === 'RegularExpression' ? value : canonicalSpelling(value),
  };
}

type NamedMatchView = ViewAt<'HTTPRoute', 'spec.rules[].matches[].headers[]'>;

/** Compiles header matches, with names in lower case. */
export function compileHeaders(views: readonly NamedMatchView[] | undefined): readonly NamedMatch[] {
  return firstOfEach((views ?? []).map((header) => namedMatch(header, headerKey(header.name ?? ''))));
}

function namedMatch(view: NamedMatchView, name: string): NamedMatch {
  return { name, type: matchTypeOf(view) as StringMatchType, value: view.value ?? '' };
}

/** Only the first entry of equal names counts, the others are ignored (HTTPHeaderMatch.name). */
function firstOfEach(matches: readonly NamedMatch[]): readonly NamedMatch[] {
  if (matches.length < 2) return matches;
  const first = new Map<string, NamedMatch>();
  for (const match of matches) if (!first.has(match.name)) first.set(match.name, match);
  return [...first.values()];
}
