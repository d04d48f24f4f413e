import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

const usualCodes: readonly number[] = [500, 502, 503, 504];

export const retryCodeUnusual = unenforcedRule(
  {
    id: 'retry-code-unusual',
    summary: 'A retry code is one for which a retry rarely helps, or which not every implementation supports.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteRetryStatusCode (500, 502, 503 and 504 are supported)',
  },
  function judge(code: number, report) {
    if (code < 400 || code > 599 || usualCodes.includes(code)) return;
    const why =
      code < 500
        ? 'is about the request itself, and the retry sends the same request'
        : 'is one that implementations are not required to support';
    report({
      below: [],
      value: String(code),
      message: `Retry code ${code} ${why}. Use ${usualCodes.slice(0, -1).join(', ')} or ${usualCodes.at(-1)}, or remove it.`,
    });
  },
);
