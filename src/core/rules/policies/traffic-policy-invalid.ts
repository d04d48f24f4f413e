import type { Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { violationsAt, type ReportViolation } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { enumsOf, type Session } from '../sessions/sessions.ts';
import { advice } from '../support/known-values.ts';
import { budgetInterval, rateInterval } from '../timing/retry-interval.ts';

type Spec = NonNullable<Resource<'XBackendTrafficPolicy'>['spec']>;

/** The CRD rejects these values. A stored policy can have them after a change of the CRD, and must not have half an effect. */
export const trafficPolicyInvalid = rule({
  id: 'traffic-policy-invalid',
  kinds: ['XBackendTrafficPolicy'],
  summary: 'The retry budget or session persistence of an XBackendTrafficPolicy is invalid.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Invalid', scope: 'object' },
  source: 'Gateway API v1.7.0, RetryConstraint and SessionPersistence; PolicyReasonInvalid',
  check({ spec = {} }, _read, report) {
    const inSpec = violationsAt(['spec'], report);
    const found: ReportViolation = (violation) =>
      inSpec({ ...violation, message: `${violation.message} The policy is ignored.` });
    judgeConstraint(spec.retryConstraint ?? {}, found);
    judgeSession(spec.sessionPersistence ?? {}, found);
  },
});

function judgeConstraint(
  { budget, minRetryRate }: NonNullable<Spec['retryConstraint']>,
  report: ReportViolation,
): void {
  const within =
    (found: ReportViolation, below: readonly string[]): ReportViolation =>
    (violation) =>
      found({ ...violation, below: ['retryConstraint', ...below, ...violation.below] });
  const percent = budget?.percent ?? 20;
  if (percent < 0 || percent > 100)
    within(report, ['budget', 'percent'])({
      below: [],
      value: String(percent),
      message: `Invalid percent ${percent}: must be between 0 and 100.`,
    });
  const count = minRetryRate?.count ?? 1;
  if (count < 1 || count > 1_000_000)
    within(report, ['minRetryRate', 'count'])({
      below: [],
      value: String(count),
      message: `Invalid count ${count}: must be between 1 and 1000000.`,
    });
  if (budget?.interval !== undefined) budgetInterval.judge(budget.interval, within(report, ['budget', 'interval']));
  if (minRetryRate?.interval !== undefined)
    rateInterval.judge(minRetryRate.interval, within(report, ['minRetryRate', 'interval']));
}

function judgeSession(session: Session, report: ReportViolation): void {
  for (const { below, value, known } of enumsOf(session)) {
    if (value === undefined || known.includes(value)) continue;
    report({
      below: ['sessionPersistence', ...below],
      value: display(value),
      message: `Unsupported ${below.at(-1)} ${quote(value)}. ${advice(value, known)}`,
    });
  }
}
