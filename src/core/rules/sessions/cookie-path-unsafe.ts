import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { routeRules, unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

/** The path becomes part of the Set-Cookie header without escaping. */
export const cookiePathUnsafe = rule({
  id: 'cookie-path-unsafe',
  kinds: ['HTTPRoute', 'GRPCRoute'],
  summary: 'The path of a cookie contains a character that ends it.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'RFC 6265 section 4.1.1 (path-value); Gateway API v1.7.0, CookieConfig.path',
  check(route, _read, report) {
    for (const { rule: routeRule, path } of routeRules(route)) {
      const cookiePath = routeRule.sessionPersistence?.cookie?.path;
      const at = [...path, 'sessionPersistence', 'cookie', 'path'];
      if (cookiePath !== undefined) judge(cookiePath, violationsAt(at, report, unsupportedValueAt(path)));
    }
  },
});

function judge(path: string, report: ReportViolation): void {
  const found = controlCharacter(path) ?? (path.includes(';') ? quote(';') : undefined);
  if (found === undefined) return;
  report({
    below: [],
    value: display(path),
    message: `Invalid cookie path ${quote(path)}: it contains ${found}, which ends the path. Remove it.`,
  });
}

export const cookiePathSafe = demand(cookiePathUnsafe, judge);
