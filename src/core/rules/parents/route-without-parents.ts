import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Route } from './parents.ts';

export const routeWithoutParents = unenforcedRule({
  id: 'route-without-parents',
  summary: 'A route names no parent, so nothing sends it requests.',
  effect: recorded,
  source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs and .useDefaultGateways',
}, function judge({ spec }: Route, report) {
  if (spec === undefined || (spec.parentRefs ?? []).length > 0 || spec.useDefaultGateways === 'All') return;
  report({ below: ['spec', 'parentRefs'], message: 'This route names no parent, so it gets no traffic. Write parentRefs with the name of a Gateway.' });
});
