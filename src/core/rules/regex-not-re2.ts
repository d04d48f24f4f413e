import { servedRouteKinds } from '../graph/protocols.ts';
import { visitSemantic } from '../schema/index.ts';
import { display, quote } from '../text/display.ts';
import { compilePattern } from '../text/pattern.ts';
import { deniedWhenStrict } from './effects.ts';
import { matchType, unsupportedValueAt } from './parts.ts';
import { rule } from './rule.ts';

/** The specification leaves the dialect of regular expressions open; ours is RE2, so others may read this one. */
export const regexNotRe2 = rule({
  id: 'regex-not-re2',
  kinds: servedRouteKinds,
  about: 'dialect',
  summary: 'A regular expression is not written in RE2 syntax.',
  effect: deniedWhenStrict,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  source: 'Gateway API v1.7.0, PathMatchRegularExpression, HTTPHeaderMatch.type, HTTPQueryParamMatch.type (dialect is implementation-specific)',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'regexOrValue', (path, value, parent) => {
      if (matchType(parent, 'Exact') !== 'RegularExpression') return;
      const compiled = compilePattern(value);
      if (compiled.ok) return;
      report({
        path,
        value: display(value),
        consequence: unsupportedValueAt(path),
        message: `The regular expression ${quote(value)} cannot be used, so this match matches nothing: ${compiled.problem}.`,
      });
    });
  },
});
