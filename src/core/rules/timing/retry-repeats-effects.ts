import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { RouteRule } from './retries.ts';
import { retryAttempts } from '../../semantics/intended.ts';

/** Methods that are not idempotent: a retry may repeat their effect (RFC 9110 section 9.2.2). */
const repeating: ReadonlySet<string> = new Set(['POST', 'PATCH']);

export const retryRepeatsEffects = unenforcedRule(
  {
    id: 'retry-repeats-effects',
    summary: 'A rule retries requests that are not idempotent.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteRetry.codes; RFC 9110 section 9.2.2 (idempotent methods)',
  },
  function judge({ retry, matches = [] }: RouteRule, report) {
    const codes = retry?.codes ?? [];
    if (
      retryAttempts(retry) === 0 ||
      codes.length === 0 ||
      matches.length === 0 ||
      !matches.every(({ method = '' }) => repeating.has(method))
    )
      return;
    const methods = [...new Set(matches.map(({ method }) => method))].join(' and ');
    report({
      below: ['retry', 'codes'],
      value: codes.join(', '),
      message: `Retries can repeat effects: the rule matches only ${methods}, and a backend that responds with ${codes.join(' or ')} may already have processed the request. Remove codes, unless the backend detects duplicate requests.`,
    });
  },
);
