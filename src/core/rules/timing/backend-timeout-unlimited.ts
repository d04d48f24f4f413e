import { millisecondsOf } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Timeouts } from './retries.ts';

export const backendTimeoutUnlimited = unenforcedRule(
  {
    id: 'backend-timeout-unlimited',
    summary: 'The timeout of a backend request is disabled, but the whole request has one.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteTimeouts.backendRequest ("0s ... disabled"); GEP-2257',
  },
  function judge({ request, backendRequest }: Timeouts, report) {
    if (millisecondsOf(backendRequest) !== 0 || (millisecondsOf(request) ?? 0) === 0) return;
    report({
      below: ['backendRequest'],
      value: backendRequest ?? '',
      message: `backendRequest: ${backendRequest} disables the timeout, but the whole request still ends after ${request}. Remove backendRequest, or set a timeout for one attempt.`,
    });
  },
);
