import { visitSemantic } from '../schema/index.ts';
import { display, quote } from '../text/display.ts';
import { pathProblems } from '../text/path.ts';
import { demand, type Violation } from './demand.ts';
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
      for (const { below: _below, ...found } of judge({ type: matchType(parent, 'PathPrefix'), value })) report({ path, ...found });
    });
  },
});

interface PathMatch {
  readonly type?: unknown;
  readonly value?: string;
}

function* judge({ type, value = '/' }: PathMatch): Iterable<Violation> {
  if (type !== 'Exact' && type !== 'PathPrefix') return;
  for (const problem of pathProblems(value)) {
    yield { below: ['value'], value: display(value), message: `The path ${quote(value)} can match no request: ${problem}.` };
  }
}

export const pathIsValid = demand('path-syntax', judge);
