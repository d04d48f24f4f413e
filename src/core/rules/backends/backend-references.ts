import {
  type BackendNode,
  type BackendOutcome,
  type BackendOutcomeOf,
  backendPlaces,
  backends,
} from '../../graph/backends.ts';
import { failureOf, servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import { quoteRef } from '../../resources/reference.ts';
import { warned } from '../engine/effects.ts';
import { referenceUnresolvedAt } from '../engine/parts.ts';
import { type Consequence, type Finding, rule } from '../engine/rule.ts';

/**
 * Declares a rule for outcomes of a backendRef that does not resolve. It only warns, because backends may be applied after
 * their routes.
 */
export function backendRule<const T extends BackendOutcome['type']>(declaration: {
  readonly id: string;
  readonly about?: 'dialect';
  readonly outcomes: readonly T[];
  readonly summary: string;
  readonly reason: string;
  readonly source: string;
  /** `loss` is the end of a sentence that states the effect on the traffic. */
  readonly describe: (
    node: BackendNode,
    outcome: BackendOutcomeOf<T>,
    loss: string,
  ) => Pick<Finding, 'message' | 'value' | 'about'>;
}) {
  const { id, about, outcomes, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: servedRouteKinds,
    ...(about === undefined ? {} : { about }),
    summary,
    effect: warned,
    consequence: { condition: 'ResolvedRefs', reason, scope: 'backendRef' },
    source,
    check(route, read: Reader, report) {
      for (const { path, node, outcome } of backendPlaces(
        read.query(backends, route.kind, route.ref.namespace, route.ref.name),
        outcomes,
      )) {
        const consequence = referenceUnresolvedAt(path, reason);
        report({ path, consequence, ...describe(node, outcome, lossOf(consequence, route.kind)) });
      }
    },
  });
}

/** Describes the effect of an unresolved reference on the traffic. */
function lossOf({ scope }: Consequence, kind: ServedRouteKind): string {
  if (scope === 'mirror') return 'no requests are mirrored to it';
  // An authorization server applies to all requests of a rule, so there is no share.
  return scope === 'rule'
    ? `all ${failureOf[kind].traffic} that match this rule are ${failureOf[kind].fate}`
    : `its share of ${failureOf[kind].traffic} is ${failureOf[kind].fate}`;
}

export function serviceName({ target }: BackendNode): string {
  return quoteRef(target);
}
