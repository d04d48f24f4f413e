import type { Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { violationsAt, type ReportViolation } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { invalidObject } from '../engine/parts.ts';
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
  consequence: invalidObject,
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
  const limits = [
    { below: ['budget', 'percent'], value: budget?.percent, least: 0, most: 100 },
    { below: ['minRetryRate', 'count'], value: minRetryRate?.count, least: 1, most: 1_000_000 },
  ];
  for (const { below, value, least, most } of limits) {
    if (value === undefined || (value >= least && value <= most)) continue;
    report({
      below: ['retryConstraint', ...below],
      value: String(value),
      message: `Invalid ${below.at(-1)} ${value}: must be between ${least} and ${most}.`,
    });
  }
  const inInterval =
    (part: string): ReportViolation =>
    (violation) =>
      report({ ...violation, below: ['retryConstraint', part, 'interval', ...violation.below] });
  if (budget?.interval !== undefined) budgetInterval.judge(budget.interval, inInterval('budget'));
  if (minRetryRate?.interval !== undefined) rateInterval.judge(minRetryRate.interval, inInterval('minRetryRate'));
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
