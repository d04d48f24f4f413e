import { parseDuration } from '../../text/duration.ts';
import { demand, specificationRule, type ReportViolation } from '../engine/demand.ts';

export const retryInterval = specificationRule({
  id: 'retry-interval',
  summary: 'The interval of a retry budget or retry rate is too short or too long.',
  source: 'Gateway API v1.7.0, RetryConstraint.budget.interval and .minRetryRate.interval; GEP-3388',
});

const second = 1000;
const hour = 3600 * second;

function judge(
  interval: string,
  shortest: { readonly milliseconds: number; readonly text: string },
  report: ReportViolation,
): void {
  const parsed = parseDuration(interval);
  // The schema rejects invalid durations.
  if (!parsed.ok || (parsed.milliseconds >= shortest.milliseconds && parsed.milliseconds <= hour)) return;
  report({
    below: [],
    value: interval,
    message: `Invalid interval ${interval}: must be between ${shortest.text} and 1h.`,
  });
}

export const budgetInterval = demand(
  retryInterval,
  (interval: string, report) => judge(interval, { milliseconds: second, text: '1s' }, report),
  'budget',
);
export const rateInterval = demand(
  retryInterval,
  (interval: string, report) => judge(interval, { milliseconds: 1, text: '1ms' }, report),
  'rate',
);
