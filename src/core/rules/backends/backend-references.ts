import type { BackendNode, BackendOutcome, BackendOutcomeOf } from '../../graph/backends/backends.ts';
import { backendPlacesOf } from '../../graph/listeners/listener-filters.ts';
import { isOwnerKind, ownerKinds, type OwnerKind } from '../../graph/listeners/listener-sets.ts';
import { failureOf, servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import { quoteRef } from '../../resources/reference.ts';
import { warned } from '../engine/effects.ts';
import { referenceUnresolvedAt } from '../engine/parts.ts';
import { type Consequence, type Finding, rule } from '../engine/rule.ts';

/**
 * Declares a rule for outcomes of a backendRef that does not resolve, in a route or in a filter of a listener. It only warns,
 * because backends may be applied after the objects that refer to them.
 */
export function backendRule<const T extends BackendOutcome['type']>(declaration: {
  readonly id: string;
  readonly about?: 'dialect';
  readonly outcomes: readonly T[];
  readonly summary: string;
  readonly reason: string;
  readonly source: string;
  /** `loss` is the end of a sentence that states the effect on the traffic. `user` is the object with the backendRef. */
  readonly describe: (
    node: BackendNode,
    outcome: BackendOutcomeOf<T>,
    loss: string,
    user: BackendUser,
  ) => Pick<Finding, 'message' | 'value' | 'about'>;
}) {
  const { id, about, outcomes, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: [...servedRouteKinds, ...ownerKinds],
    ...(about === undefined ? {} : { about }),
    summary,
    effect: warned,
    consequence: { condition: 'ResolvedRefs', reason, scope: 'backendRef' },
    varies: ['reason', 'scope'],
    source,
    check({ kind, ref: { namespace, name } }, read: Reader, report) {
      for (const { path, node, outcome } of backendPlacesOf(read, { kind, namespace, name }, outcomes)) {
        const consequence = referenceUnresolvedAt(path, reason);
        report({ path, consequence, ...describe(node, outcome, lossOf(consequence, kind), userOf(kind)) });
      }
    },
  });
}

/** Words for the object with a backendRef: what uses the backend, and what is in the namespace. */
export interface BackendUser {
  readonly use: string;
  readonly owner: string;
}

function userOf(kind: ServedRouteKind | OwnerKind): BackendUser {
  return isOwnerKind(kind)
    ? { use: 'filters of listeners', owner: `the ${kind}` }
    : { use: 'this route', owner: 'the route' };
}

/** Describes the effect of an unresolved reference on the traffic. */
function lossOf({ scope }: Consequence, kind: ServedRouteKind | OwnerKind): string {
  if (isOwnerKind(kind)) return 'all requests of the listener are answered with 500';
  if (scope === 'mirror') return 'no requests are mirrored to it';
  // An authorization server applies to all requests of a rule, so there is no share.
  return scope === 'rule'
    ? `all ${failureOf[kind].traffic} that match this rule are ${failureOf[kind].fate}`
    : `its share of ${failureOf[kind].traffic} is ${failureOf[kind].fate}`;
}

export function serviceName({ target }: BackendNode): string {
  return quoteRef(target);
}
