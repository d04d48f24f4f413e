import { compileCall } from '../../graph/matches/compile-calls.ts';
import { compileMatch, everything } from '../../graph/matches/compile-matches.ts';
import { requestsOf } from '../../graph/matches/precedence.ts';
import type { RouteMatch } from '../../graph/matches/route-match.ts';
import type { MatchView } from '../../graph/route-views.ts';
import { formatPath, type Path } from '../../resources/path.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type Match = MatchView<'HTTPRoute'> | MatchView<'GRPCRoute'>;

type RouteRule = ViewAt<'HTTPRoute' | 'GRPCRoute', 'spec.rules[]'>;

export const matchRepeated = unenforcedRule(
  {
    id: 'match-repeated',
    summary: 'Two matches of a route are equal, so the later one gets no requests.',
    effect: warned,
    source:
      'Gateway API v1.7.0, HTTPRouteRule.matches and GRPCRouteRule.matches ("the first matching rule (in list order)")',
  },
  function judge(rules: readonly RouteRule[], report) {
    const byPath = new Map<string, SamePath>();
    for (const [index, { matches = [] }] of rules.entries()) {
      const isEmpty = matches.length === 0;
      const written = isEmpty
        ? [{ match: everything, below: [index, 'matches'] }]
        : matches.flatMap((match, position) =>
            matchesNothing(match) ? [] : [{ match: compiled(match, position), below: [index, 'matches', position] }],
          );
      for (const place of written) {
        const before = earlierTwin(place, byPath);
        if (before === undefined) continue;
        const first = formatPath(['spec', 'rules', ...before.below]);
        const problem = isEmpty
          ? `This rule has no matches, so it is a duplicate of ${first}`
          : `Duplicate match: it is equal to ${first}`;
        report({
          below: place.below,
          message: `${problem}, which comes first and gets all requests. Remove one of them, or make them different.`,
        });
      }
    }
  },
);

/** Returns whether a gRPC match names neither service nor method, which `grpc-method-match` reports. */
function matchesNothing({ method }: Match): boolean {
  return typeof method === 'object' && (method.service ?? '') === '' && (method.method ?? '') === '';
}

/** Returns a match in the normalized form in which requests are compared. Without a method, it is the same for both kinds. */
function compiled(match: Match, position: number): RouteMatch {
  return typeof match.method === 'object'
    ? compileCall(match as MatchView<'GRPCRoute'>, position)
    : compileMatch(match as MatchView<'HTTPRoute'>, position);
}

/** A match and its path below `spec.rules`. */
interface PlacedMatch {
  readonly match: RouteMatch;
  readonly below: Path;
}

/** The matches of one path. Most paths have a single match, which needs no serialization. */
interface SamePath {
  readonly first: PlacedMatch;
  byRequests?: Map<string, PlacedMatch>;
}

/** Returns the first match of the same requests; if there is none, adds `place` as the first. */
function earlierTwin(place: PlacedMatch, byPath: Map<string, SamePath>): PlacedMatch | undefined {
  const {
    path: { value },
  } = place.match;
  // A trailing slash may be insignificant.
  const path = value.endsWith('/') ? value.slice(0, -1) : value;
  const others = byPath.get(path);
  if (others === undefined) {
    byPath.set(path, { first: place });
    return undefined;
  }
  const byRequests = (others.byRequests ??= new Map([[requestsOf(others.first.match), others.first]]));
  const requests = requestsOf(place.match);
  const twin = byRequests.get(requests);
  if (twin === undefined) byRequests.set(requests, place);
  return twin;
}
