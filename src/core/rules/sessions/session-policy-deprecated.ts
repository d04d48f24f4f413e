import { demand, unenforcedRule, type Violation } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const sessionPolicyDeprecated = unenforcedRule(
  {
    id: 'session-policy-deprecated',
    summary: 'A policy or route sets sessionPersistence, which is part of XBackend since v1.7.',
    effect: warned,
    source:
      'Gateway API v1.7.0, BackendTrafficPolicySpec.sessionPersistence, HTTPRouteRule.sessionPersistence and GRPCRouteRule.sessionPersistence (deprecated); GEP-1619',
  },
  (_value, report) => report(deprecatedIn('an XBackendTrafficPolicy')),
);

export const sessionOfRouteDeprecated = demand(
  sessionPolicyDeprecated,
  (_value, report) => report(deprecatedIn('a route')),
  'route',
);

function deprecatedIn(where: string): Violation {
  return {
    below: [],
    message: `sessionPersistence of ${where} is deprecated and will be removed. Since v1.7, it is part of XBackend: set spec.sessionPersistence of an XBackend instead.`,
  };
}
