import { millisecondsOf } from '../../text/duration.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import type { ViewAt } from '../../schema/index.ts';

export const backendRequestTimeout = rule({
  id: 'backend-request-timeout',
  kinds: ['HTTPRoute'],
  summary: 'The timeout of a backend request is longer than the timeout of the whole request.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteTimeouts.backendRequest',
  check(route, _read, report) {
    for (const {
      rule: { timeouts = {} },
      path,
    } of routeRules(route)) {
      judge(timeouts, violationsAt([...path, 'timeouts'], report));
    }
  },
});

type Timeouts = ViewAt<'HTTPRoute', 'spec.rules[].timeouts'>;

function judge({ request, backendRequest }: Timeouts, report: ReportViolation): void {
  const whole = millisecondsOf(request);
  const single = millisecondsOf(backendRequest);
  // Zero means no limit, so no timeout exceeds it.
  if (whole === undefined || single === undefined || whole === 0 || single <= whole) return;
  report({
    below: ['backendRequest'],
    value: backendRequest ?? '',
    message: `Invalid backendRequest ${backendRequest}: must not be longer than request (${request}). Use backendRequest: ${request} or less, or a longer request.`,
  });
}

export const timeoutsInOrder = demand(backendRequestTimeout, judge);
