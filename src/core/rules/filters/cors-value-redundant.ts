import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { canonicalOrigin } from '../../text/origin.ts';
import { type ReportViolation, unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Cors } from './cors-values.ts';

function repetitions(
  field: string,
  values: readonly string[],
  keyOf: (value: string) => string,
  report: ReportViolation,
): void {
  const first = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const key = keyOf(value);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else
      report({
        below: [field, index],
        value: display(value),
        message: `Duplicate value ${quote(value)}: it is the same as ${field}[${before}] (${quote(values[before])}). Remove one of them.`,
      });
  }
}

export const corsValueRedundant = unenforcedRule(
  {
    id: 'cors-value-redundant',
    summary: 'A CORS list has a value that another value of the list includes.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPCORSFilter.allowOrigins, .allowHeaders and .exposeHeaders; GEP-1767',
  },
  function judge({ allowOrigins = [], allowHeaders = [], exposeHeaders = [] }: Cors, report) {
    repetitions('allowOrigins', allowOrigins, (origin) => canonicalOrigin(origin) ?? origin, report);
    repetitions('allowHeaders', allowHeaders, headerKey, report);
    repetitions('exposeHeaders', exposeHeaders, headerKey, report);
    const wildcard = exposeHeaders.indexOf('*');
    if (wildcard !== -1 && exposeHeaders.length > 1)
      report({
        below: ['exposeHeaders', wildcard],
        value: '*',
        message:
          '"*" exposes every header, so the other values of exposeHeaders are ignored. Use "*" alone, or remove it.',
      });
  },
);
