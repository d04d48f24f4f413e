import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { RouteRule } from './retries.ts';

export const retryWithoutBackend = unenforcedRule(
  {
    id: 'retry-without-backend',
    summary: 'A rule that forwards no requests has retry settings.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteRule.retry',
  },
  function judge({ retry, filters = [], backendRefs = [] }: RouteRule, report) {
    if (retry === undefined || (backendRefs.length > 0 && !filters.some(({ type }) => type === 'RequestRedirect')))
      return;
    report({
      below: ['retry'],
      message: 'retry is ignored because the rule forwards no requests to a backend. Remove retry, or set backendRefs.',
    });
  },
);
