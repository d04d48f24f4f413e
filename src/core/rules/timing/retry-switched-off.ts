import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Retry } from './retries.ts';

export const retrySwitchedOff = unenforcedRule(
  {
    id: 'retry-switched-off',
    summary: 'Retries are disabled, but other retry settings are set.',
    effect: recorded,
    source: 'Gateway API v1.7.0, HTTPRouteRetry.attempts (0 disables retries)',
  },
  function judge({ attempts, backoff, codes = [] }: Retry, report) {
    if (attempts !== 0 || (backoff === undefined && codes.length === 0)) return;
    report({
      below: ['attempts'],
      value: '0',
      message:
        'attempts: 0 disables retries, so codes and backoff are ignored. Use attempts: 1 or more, or remove codes and backoff.',
    });
  },
);
