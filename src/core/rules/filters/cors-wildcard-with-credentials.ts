import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Cors } from './cors-values.ts';

/** With credentials, browsers treat "*" as a literal name. The gateway would have to list the names instead. */
export const corsWildcardWithCredentials = unenforcedRule(
  {
    id: 'cors-wildcard-with-credentials',
    summary: 'CORS allows credentials together with a wildcard.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPCORSFilter.allowCredentials; Fetch Standard, "CORS protocol and credentials"',
  },
  function judge({ allowCredentials, ...lists }: Cors, report) {
    if (allowCredentials !== true) return;
    for (const field of ['allowOrigins', 'allowHeaders', 'allowMethods', 'exposeHeaders'] as const) {
      const wildcard = (lists[field] ?? []).indexOf('*');
      if (wildcard === -1) continue;
      const risk =
        field === 'allowOrigins'
          ? 'any website could act with the cookies of its visitors'
          : 'browsers do not treat "*" as a wildcard in requests with credentials';
      report({
        below: [field, wildcard],
        value: '*',
        message: `allowCredentials: true conflicts with ${field} "*": ${risk}. List the values that you need, or set allowCredentials: false.`,
      });
    }
  },
);
