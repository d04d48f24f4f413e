import { fieldDefaults, visitSemantic, type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { pathProblems } from '../../text/path.ts';
import { textOf } from '../../text/record.ts';
import { demand, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { matchType } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const pathSyntax = rule({
  id: 'path-syntax',
  kinds: ['HTTPRoute'],
  summary: 'The value of an Exact or PathPrefix match is not a valid path.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  source:
    'Gateway API v1.7.0, PathMatchType ("PathPrefix and Exact paths must be syntactically valid") and HTTPPathMatch',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'pathValue', (path, value, parent) => {
      judge({ type: textOf(matchType(parent, fieldDefaults.path.type)), value }, ({ below: _below, ...found }) =>
        report({ path, ...found }),
      );
    });
  },
});

type PathMatch = ViewAt<'HTTPRoute', 'spec.rules[].matches[].path'>;

function judge({ type, value = fieldDefaults.path.value }: PathMatch, report: ReportViolation): void {
  if (type !== 'Exact' && type !== 'PathPrefix') return;
  for (const problem of pathProblems(value)) {
    report({ below: ['value'], value: display(value), message: `Invalid path ${quote(value)}: ${problem}.` });
  }
}

export const pathIsValid = demand(pathSyntax, judge);
