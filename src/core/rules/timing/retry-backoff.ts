import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';

export const retryBackoff = unenforcedRule({
  id: 'retry-backoff',
  summary: 'How long to wait between retries is left to implementations.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRouteRetry.backoff (implementation-specific)',
}, function judge(backoff: string, report) {
  report({ below: [], value: backoff, message: `backoff: ${backoff} is the basis of a wait that each implementation computes in its own way; one that does not wait refuses the route. Leave it out where the route shall work everywhere.` });
});
