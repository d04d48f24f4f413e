import { visitSemantic } from '../schema/index.ts';
import { display, quote } from '../text/display.ts';
import { pathProblems } from '../text/path.ts';
import { denied } from './effects.ts';
import { matchType } from './parts.ts';
import { rule } from './rule.ts';

export const pathSyntax = rule({
  id: 'path-syntax',
  kinds: ['HTTPRoute'],
  summary: 'The value of an Exact or PathPrefix match is no path.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  source: 'Gateway API v1.7.0, PathMatchType ("PathPrefix and Exact paths must be syntactically valid") and HTTPPathMatch',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'pathValue', (path, value, parent) => {
      const type = matchType(parent, 'PathPrefix');
      if (type !== 'Exact' && type !== 'PathPrefix') return;
      for (const problem of pathProblems(value)) {
        report({ path, value: display(value), message: `The path ${quote(value)} can match no request: ${problem}.` });
      }
    });
  },
});
