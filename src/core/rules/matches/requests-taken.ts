import { failureOf, isLayer4, requestRouteKinds } from '../../graph/protocols.ts';
import { describeRef, quoteRef } from '../../resources/reference.ts';
import { display, quote } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { matchPath } from '../engine/parts.ts';
import { rule, type Consequence } from '../engine/rule.ts';
import { shadowed } from './match-taken.ts';
import { takenRequests, type TakenRequests } from './taken-requests.ts';

/** The match gets its other requests, so nothing is disabled. */
export const partlyShadowed = {
  condition: shadowed.condition,
  reason: 'RequestsTaken',
  scope: 'match',
} as const satisfies Consequence;

const reasons: Readonly<Record<TakenRequests['by'], string>> = {
  hostname: 'its hostname is more specific',
  path: 'its path is more specific',
  conditions: 'it has further conditions for the same path',
};

/** Describes which requests another namespace gets, and why. */
export function describeTakenRequests({ own, owner, listener, winner, by, isNarrower }: TakenRequests): string {
  const { traffic } = failureOf[own.kind as keyof typeof failureOf];
  const [loser, place] = isLayer4(own.kind)
    ? ['the route', ' to it']
    : [`spec.rules[${own.rule}].matches[${own.match}]`, ` to its spec.rules[${winner.rule}].matches[${winner.match}]`];
  const which = [
    ...(by === 'hostname' ? [`for ${display(winner.hostname)}`] : []),
    ...(isNarrower ? [pathOf(winner)] : []),
    ...(winner.hasConditions ? ['with its method, headers or query parameters'] : []),
  ];
  return `${quoteRef(winner)} gets ${traffic} of ${loser} on listener ${display(listener)} of ${quoteRef(owner)}: ${traffic} ${which.join(' ')} go${place}, because ${reasons[by]}.`;
}

function pathOf({ path: { type, value } }: TakenRequests['winner']): string {
  if (type === 'Exact') return `with path ${quote(value)}`;
  return type === 'PathPrefix' ? `with path prefix ${quote(value)}` : `with a path that matches ${quote(value)}`;
}

export const requestsTakenCure =
  'This is correct if the routes are meant to share these hostnames. Otherwise, change one of them, or define the owner of the hostname by a HostnamePolicy.';

export const requestsTaken = rule({
  id: 'requests-taken',
  kinds: [...requestRouteKinds, 'TLSRoute'],
  summary: 'A route in another namespace gets some requests of a match, because it is more specific.',
  effect: warned,
  consequence: partlyShadowed,
  source:
    'Gateway API v1.7.0, HTTPRouteSpec.hostnames, HTTPRouteRule.matches and GRPCRouteRule.matches (precedence); security model, "Avoiding hostname/domain hijacking"',
  check(subject, read, report) {
    const {
      kind,
      ref: { namespace, name },
    } = subject;
    const taken = read.query(takenRequests, kind, namespace, name);
    for (const places of Map.groupBy(taken, ({ own }) => `${own.rule} ${own.match}`).values()) {
      const [first] = places;
      if (first === undefined) continue;
      const messages = [...new Set(places.map(describeTakenRequests))];
      report({
        path: matchPath(subject, first.own),
        value: display(describeRef(first.winner)),
        consequence: partlyShadowed,
        message: `${messages[0]}${messages.length === 1 ? '' : ` (${messages.length - 1} more)`} ${requestsTakenCure}`,
      });
    }
  },
});
