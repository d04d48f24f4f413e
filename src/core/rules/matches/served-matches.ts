import { compileCalls } from '../../graph/matches/compile-calls.ts';
import { compileMatches } from '../../graph/matches/compile-matches.ts';
import type { ServedRouteKind } from '../../graph/protocols.ts';
import type { RouteMatch } from '../../graph/matches/route-match.ts';
import { isLost, type Resource } from '../../resources/resource.ts';
import type { PartProblem } from '../engine/part-problem.ts';

/** Returns the matches for each rule of a route. Matches with a problem are left out, so they match nothing. */
export function servedMatches(
  route: Resource<ServedRouteKind>,
  problems: readonly PartProblem[],
): readonly (readonly RouteMatch[])[] {
  // A rule with unreadable matches must not respond to requests that it may not be intended for.
  const isKnown = (rule: number): boolean => !isLost(route, ['spec', 'rules', rule, 'matches']);
  // A problem of `matches` as a whole, where none is written, is one of every match.
  const isInvalid =
    (rule: number) =>
    (match: number): boolean =>
      problems.some(
        ({ scope, part, member }) => scope === 'match' && part === rule && (member === match || member === -1),
      );
  switch (route.kind) {
    case 'GRPCRoute':
      return (route.spec?.rules ?? []).map(({ matches }, rule) =>
        isKnown(rule) ? compileCalls(matches, isInvalid(rule)) : [],
      );
    case 'HTTPRoute':
      return (route.spec?.rules ?? []).map(({ matches }, rule) =>
        isKnown(rule) ? compileMatches(matches, isInvalid(rule)) : [],
      );
    case 'TLSRoute':
    case 'TCPRoute':
    case 'UDPRoute':
      // In a layer 4 route, the first rule gets all traffic.
      return [compileMatches([], () => false)];
  }
}
