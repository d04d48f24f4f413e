import { visitSemantic } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { pathProblems } from '../../text/path.ts';
import { demand, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { writtenMatchType } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { pathMatchOf } from '../../semantics/intended.ts';

export const pathSyntax = rule({
  id: 'path-syntax',
  kinds: ['HTTPRoute'],
  summary: 'The value of an Exact or PathPrefix match is not a valid path.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  source:
    'Gateway API v1.7.0, PathMatchType ("PathPrefix and Exact paths must be syntactically valid") and HTTPPathMatch',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'pathValue', (place, value, parent) => {
      judge({ type: writtenMatchType(parent), value }, ({ below: _below, ...found }) =>
        report({ path: place.path, ...found }),
      );
    });
  },
});

type PathMatch = NonNullable<Parameters<typeof pathMatchOf>[0]>;

function judge(match: PathMatch, report: ReportViolation): void {
  const { type, value } = pathMatchOf(match);
  if (type !== 'Exact' && type !== 'PathPrefix') return;
  for (const problem of pathProblems(value)) {
    report({ below: ['value'], value: display(value), message: `Invalid path ${quote(value)}: ${problem}.` });
  }
}

export const pathIsValid = demand(pathSyntax, judge);
