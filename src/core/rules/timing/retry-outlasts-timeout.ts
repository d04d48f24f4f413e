import { formatDuration, millisecondsOf } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { RouteRule } from './retries.ts';
import { retryAttempts } from '../../semantics/intended.ts';

/** A higher number is probably a mistake. */
const manyAttempts = 100;

export const retryOutlastsTimeout = unenforcedRule(
  {
    id: 'retry-outlasts-timeout',
    summary: 'The request times out before all of its retries are made.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteRetry.attempts and .backoff, HTTPRouteTimeouts.request (spans all retries)',
  },
  function judge({ retry, timeouts: { request } = {} }: RouteRule, report) {
    const attempts = retryAttempts(retry);
    const backoff = retry?.backoff;
    const [whole, pause] = [millisecondsOf(request) ?? 0, millisecondsOf(backoff) ?? 0];
    const waiting = attempts * pause;
    if (whole > 0 && waiting > whole) {
      const total = formatDuration(waiting);
      report({
        below: ['retry', 'attempts'],
        value: String(attempts),
        message: `Too many attempts: ${attempts} retries with backoff ${backoff} wait for ${total.ok ? total.text : 'longer'} in total, but the request ends after ${request}. Use fewer attempts, a shorter backoff, or a longer timeouts.request.`,
      });
    } else if (attempts > manyAttempts) {
      report({
        below: ['retry', 'attempts'],
        value: String(attempts),
        message: `Too many attempts: ${attempts} retries multiply the load of a failing backend. Use a small number such as 2.`,
      });
    }
  },
);
