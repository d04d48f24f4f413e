import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';

export const retryBackoff = unenforcedRule(
  {
    id: 'retry-backoff',
    summary: 'The wait between retries is implementation-specific.',
    effect: recorded,
    source: 'Gateway API v1.7.0, HTTPRouteRetry.backoff (implementation-specific)',
  },
  function judge(backoff: string, report) {
    report({
      below: [],
      value: backoff,
      message: `backoff: ${backoff} is implementation-specific: each implementation computes the wait in its own way, and some reject the route. Remove it to make the route portable.`,
    });
  },
);
