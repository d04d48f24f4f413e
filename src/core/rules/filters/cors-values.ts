import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { canonicalOrigin } from '../../text/origin.ts';
import { unenforcedRule, type ReportViolation } from '../engine/demand.ts';
import { denied, warned } from '../engine/effects.ts';

// What CORS filters list.

const port = /:([0-9]+)$/;

export const corsOriginPort = unenforcedRule({
  id: 'cors-origin-port',
  summary: 'The port of a CORS origin does not exist.',
  effect: denied,
  source: 'Gateway API v1.7.0, HTTPCORSFilter.allowOrigins (port of 1 to 65535)',
}, function judge(origin: string, report) {
  const [, digits] = port.exec(origin) ?? [];
  if (digits === undefined || (Number(digits) >= 1 && Number(digits) <= 65_535)) return;
  report({ below: [], value: display(origin), message: `No browser sends the origin ${quote(origin)}: there is no port ${digits}. Write a port from 1 to 65535, or leave it out.` });
});

interface Cors {
  readonly allowOrigins?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly allowMethods?: readonly string[];
  readonly allowCredentials?: boolean;
}

function repetitions(field: string, values: readonly string[], keyOf: (value: string) => string, report: ReportViolation): void {
  const first = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const key = keyOf(value);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else report({ below: [field, index], value: display(value), message: `${quote(value)} says the same as ${field}[${before}] (${quote(values[before])}). Remove one of them.` });
  }
}

export const corsValueRedundant = unenforcedRule({
  id: 'cors-value-redundant',
  summary: 'A CORS list holds a value that another one includes.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPCORSFilter.allowOrigins, .allowHeaders and .exposeHeaders; GEP-1767',
}, function judge({ allowOrigins = [], allowHeaders = [], exposeHeaders = [] }: Cors, report) {
  repetitions('allowOrigins', allowOrigins, (origin) => canonicalOrigin(origin) ?? origin, report);
  repetitions('allowHeaders', allowHeaders, headerKey, report);
  repetitions('exposeHeaders', exposeHeaders, headerKey, report);
  const wildcard = exposeHeaders.indexOf('*');
  if (wildcard !== -1 && exposeHeaders.length > 1) report({ below: ['exposeHeaders', wildcard], value: '*', message: '"*" exposes every header, so the others in exposeHeaders say nothing. Keep "*" alone, or remove it.' });
});

/** Browsers take "*" for a name of its own where credentials are sent; the gateway has to list what it would stand for. */
export const corsWildcardWithCredentials = unenforcedRule({
  id: 'cors-wildcard-with-credentials',
  summary: 'CORS allows everybody to send credentials.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPCORSFilter.allowCredentials; Fetch Standard, "CORS protocol and credentials"',
}, function judge({ allowCredentials, ...lists }: Cors, report) {
  if (allowCredentials !== true) return;
  for (const field of ['allowOrigins', 'allowHeaders', 'allowMethods', 'exposeHeaders'] as const) {
    const wildcard = (lists[field] ?? []).indexOf('*');
    if (wildcard === -1) continue;
    const risk = field === 'allowOrigins' ? 'any web site could act with the cookies of its visitors' : 'browsers do not take "*" for everything where credentials are sent';
    report({ below: [field, wildcard], value: '*', message: `allowCredentials is true and ${field} is "*": ${risk}. List what is needed, or write allowCredentials: false.` });
  }
});
