import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import type { ViewAt } from '../../schema/index.ts';

export const redirectWithBackends = rule({
  id: 'redirect-with-backends',
  kinds: ['HTTPRoute'],
  summary: 'A rule that redirects every request has backendRefs.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'IncompatibleFilters', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteRule ("RequestRedirect filter must not be used together with backendRefs")',
  check(route, _read, report) {
    for (const { rule: routeRule, path } of routeRules(route)) {
      judge(routeRule, violationsAt(path, report));
    }
  },
});

type RouteRule = ViewAt<'HTTPRoute', 'spec.rules[]'>;

function judge({ filters = [], backendRefs = [] }: RouteRule, report: ReportViolation): void {
  const redirect = filters.findIndex((filter) => filter.type === 'RequestRedirect');
  if (redirect === -1 || backendRefs.length === 0) return;
  report({
    below: ['filters', redirect],
    value: 'RequestRedirect',
    message:
      'backendRefs conflicts with the RequestRedirect filter: the rule redirects every request, so no backend gets one. Remove backendRefs, or remove the filter.',
  });
}

export const redirectAlone = demand(redirectWithBackends, judge);
