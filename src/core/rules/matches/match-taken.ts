import { failureOf, isLayer4, servedRouteKinds } from '../../graph/protocols.ts';
import { describeRef, quoteRef } from '../../resources/reference.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { matchPath } from '../engine/parts.ts';
import { takenMatches, type TakenMatch } from './match-places.ts';
import { rule, type Consequence } from '../engine/rule.ts';

/** The match is valid, and would get requests without the other one, so nothing is disabled. */
export const shadowed = {
  condition: 'sallyport.dev/Shadowed',
  reason: 'MatchTaken',
  scope: 'match',
} as const satisfies Consequence;

/** Describes which match gets no requests, where, and which match gets them instead. */
export function describeTaken({ own, owner, listener, hostname, winner }: TakenMatch): string {
  const host = hostname === '' ? '' : ` for ${display(hostname)}`;
  if (isLayer4(own.kind)) {
    return `The route gets no ${failureOf[own.kind].traffic} on listener ${display(listener)} of ${quoteRef(owner)}${host}: ${quoteRef(winner)} gets all of them.`;
  }
  return `spec.rules[${own.rule}].matches[${own.match}] is shadowed on listener ${display(listener)} of ${quoteRef(owner)}${host}: spec.rules[${winner.rule}].matches[${winner.match}] of ${quoteRef(winner)} is equal and takes precedence.`;
}

/** Describes which of equal matches has precedence, and the fix. */
export function takenCure(kind: string): string {
  return isLayer4(kind) ? routeCure : matchCure;
}

const routeCure =
  'The oldest route is served, then the first by namespace/name. Remove one of them, or attach it to another listener.';
const matchCure =
  'The match of the oldest route takes precedence, then the first by namespace and name. Remove one of the matches, or make them different.';

export const matchTaken = rule({
  id: 'match-taken',
  kinds: servedRouteKinds,
  summary: 'A match is shadowed: an older route on the same listener and hostname has an equal match.',
  effect: warned,
  consequence: shadowed,
  source:
    'Gateway API v1.7.0, HTTPRouteRule.matches and GRPCRouteRule.matches ("the oldest Route based on creation timestamp"); API design guide, "Conflicts"',
  check(subject, read, report) {
    const {
      kind,
      ref: { namespace, name },
    } = subject;
    const taken = read.query(takenMatches, kind, namespace, name);
    for (const places of Map.groupBy(taken, ({ own }) => `${own.rule} ${own.match}`).values()) {
      const [first] = places;
      if (first === undefined) continue;
      const { own, winner } = first;
      // A match may have the same bucket twice, by two parentRefs.
      const count = new Set(places.map(({ bucket }) => bucket)).size;
      report({
        path: matchPath(subject, own),
        value: display(describeRef(winner)),
        consequence: shadowed,
        message: `${describeTaken(first)}${count === 1 ? '' : ` (${count - 1} more)`} ${takenCure(kind)}`,
      });
    }
  },
});
