import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Route } from './parents.ts';

export const routeWithoutParents = unenforcedRule(
  {
    id: 'route-without-parents',
    summary: 'A route has no parentRefs, so it gets no traffic.',
    effect: recorded,
    source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs and .useDefaultGateways',
  },
  function judge({ spec }: Route, report) {
    if (spec === undefined || (spec.parentRefs ?? []).length > 0 || spec.useDefaultGateways === 'All') return;
    report({
      below: ['spec', 'parentRefs'],
      message: 'The route has no parentRefs, so it gets no traffic. Set parentRefs with the name of a Gateway.',
    });
  },
);
