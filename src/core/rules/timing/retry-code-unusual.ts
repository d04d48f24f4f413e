import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

const usualCodes: readonly number[] = [500, 502, 503, 504];

export const retryCodeUnusual = unenforcedRule({
  id: 'retry-code-unusual',
  summary: 'Retries follow an answer that a second try hardly changes.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRetryStatusCode (500, 502, 503 and 504 are supported)',
}, function judge(code: number, report) {
  if (code < 400 || code > 599 || usualCodes.includes(code)) return;
  const why = code < 500 ? 'is about the request itself, which stays the same' : 'is not one that implementations have to support';
  report({ below: [], value: String(code), message: `The code ${code} ${why}. Write ${usualCodes.slice(0, -1).join(', ')} or ${usualCodes.at(-1)}, or remove it.` });
});
