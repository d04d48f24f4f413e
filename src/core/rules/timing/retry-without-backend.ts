import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { RouteRule } from './retries.ts';

export const retryWithoutBackend = unenforcedRule({
  id: 'retry-without-backend',
  summary: 'Retries are set for a rule that forwards no request.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.retry',
}, function judge({ retry, filters = [], backendRefs = [] }: RouteRule, report) {
  if (retry === undefined || (backendRefs.length > 0 && !filters.some(({ type }) => type === 'RequestRedirect'))) return;
  report({ below: ['retry'], message: 'This rule sends no request to a backend, so there is nothing to retry. Remove retry, or write backendRefs.' });
});
