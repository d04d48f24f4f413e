import { requestRouteKinds } from '../../graph/protocols.ts';
import { display, quote } from '../../text/display.ts';
import { dataPlaneExpressionBytes, gatewayWithoutRoom } from './data-plane-expressions.ts';
import { warned } from '../engine/effects.ts';
import {
  expressionsOf,
  firstOfEachMatch,
  judgeExpressions,
  routeExpressionLimits,
  type Expression,
} from './expressions.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule, type ReportFinding } from '../engine/rule.ts';

const { effort, bytes } = routeExpressionLimits;
const kibibytes = bytes / 1_024;
const mebibytes = dataPlaneExpressionBytes / 1_024 / 1_024;

/** Each expression may be fine, but every reader of a route compiles all of them, and a data plane has one memory for all routes. */
export const regexTotalCost = rule({
  id: 'regex-total-cost',
  kinds: requestRouteKinds,
  summary: 'The regular expressions of a route, or of all routes of a Gateway, exceed the limit for their total cost.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  varies: ['scope'],
  source:
    'Gateway API v1.7.0, PathMatchRegularExpression, HTTPHeaderMatch.type, HTTPQueryParamMatch.type (support is implementation-specific)',
  check(subject, read, report) {
    const gateway = gatewayWithoutRoom(read, subject);
    if (gateway === undefined) {
      reportEach(
        judgeExpressions(subject).beyond,
        `the expressions before it in this route reach the limit of ${effort} steps or ${kibibytes} KiB. Use fewer or cheaper expressions, without large counts and classes such as \\p{L}, or move rules to another route`,
        report,
      );
    } else {
      reportEach(
        expressionsOf(subject),
        `the expressions of this and older routes need more than the ${mebibytes} MiB that the data plane of Gateway ${quote(gateway)} has for them. Remove expressions, use * and + in place of large counts, or attach the route to another Gateway`,
        report,
      );
    }
  },
});

/** Reports the first expression of each match. Further expressions cannot make an unusable match worse. */
function reportEach(expressions: readonly Expression[], cause: string, report: ReportFinding): void {
  for (const { path, value } of firstOfEachMatch(expressions)) {
    report({
      path,
      value: display(value),
      consequence: unsupportedValueAt(path),
      message: `Regular expression ${quote(value)} is not compiled, so the match matches nothing: ${cause}.`,
    });
  }
}
