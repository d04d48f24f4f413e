import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { sessionKinds, sessionParts } from './sessions.ts';

/** The path becomes part of the Set-Cookie header without escaping. */
export const cookiePathUnsafe = rule({
  id: 'cookie-path-unsafe',
  kinds: sessionKinds,
  summary: 'The path of a cookie contains a character that ends it.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['reason', 'scope'],
  source: 'RFC 6265 section 4.1.1 (path-value); Gateway API v1.7.0, CookieConfig.path',
  check(subject, _read, report) {
    for (const { session, path, unserved } of sessionParts(subject)) {
      const cookiePath = session.cookie?.path;
      if (cookiePath !== undefined) judge(cookiePath, violationsAt([...path, 'cookie', 'path'], report, unserved));
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
