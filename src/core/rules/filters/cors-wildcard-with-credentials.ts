import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Cors } from './cors-values.ts';

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
