import { requestRouteKinds } from '../../graph/protocols.ts';
import { display, quote } from '../../text/display.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { judgeExpressions } from './expressions.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

/**
 * The specification leaves the dialect of regular expressions open. Sallyport uses RE2. Other implementations may support this
 * expression.
 */
export const regexNotRe2 = rule({
  id: 'regex-not-re2',
  kinds: requestRouteKinds,
  about: 'dialect',
  summary: 'A regular expression is invalid in RE2 syntax.',
  effect: deniedWhenStrict,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  varies: ['scope'],
  source:
    'Gateway API v1.7.0, PathMatchRegularExpression, HTTPHeaderMatch.type, HTTPQueryParamMatch.type (dialect is implementation-specific)',
  check(subject, _read, report) {
    for (const { path, value, problem } of judgeExpressions(subject).unusable) {
      report({
        path,
        value: display(value),
        consequence: unsupportedValueAt(path),
        message: `Invalid regular expression ${quote(value)}, so the match matches nothing: ${problem}.`,
      });
    }
  },
});
