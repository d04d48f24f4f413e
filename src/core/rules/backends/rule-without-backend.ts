import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { RouteRule } from '../routes/rule-contents.ts';

/** Filters that respond themselves, or whose behavior is unknown. */
const answering: ReadonlySet<string> = new Set(['RequestRedirect', 'ExtensionRef']);

export const ruleWithoutBackend = unenforcedRule(
  {
    id: 'rule-without-backend',
    summary: 'A rule has neither backendRefs nor a filter that responds, so its requests get an error.',
    effect: warned,
    source:
      'Gateway API v1.7.0, HTTPRouteRule.backendRefs and GRPCRouteRule.backendRefs ("If unspecified or invalid ... 500")',
  },
  function judge({ filters = [], backendRefs = [] }: Pick<RouteRule, 'filters' | 'backendRefs'>, report) {
    if (backendRefs.length > 0 || filters.some(({ type = '' }) => answering.has(type))) return;
    report({
      below: ['backendRefs'],
      message:
        'The rule has no backendRefs, so its requests get an error. Add backendRefs with the name and port of a Service. If they are in a list item of their own, remove the dash before them.',
    });
  },
);
