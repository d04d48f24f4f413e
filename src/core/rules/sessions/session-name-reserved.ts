import { display, quote } from '../../text/display.ts';
import { framingFields } from '../../text/fields.ts';
import { controlCharacter, headerKey, isToken } from '../../text/header.ts';
import { demand, violationsAt, type ReportViolation, type Violation } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { nameOf, sessionKinds, sessionParts, type Session } from './sessions.ts';
import { cookiePath, sessionType } from '../../semantics/intended.ts';

/** Names with a meaning in HTTP, for browsers or for the gateway itself. */
const reservedNames: ReadonlySet<string> = new Set([
  ...framingFields,
  'cookie',
  'set-cookie',
  'authorization',
  'proxy-authorization',
  'content-type',
  'forwarded',
  'x-forwarded-for',
  'via',
]);

export const sessionNameReserved = rule({
  id: 'session-name-reserved',
  kinds: sessionKinds,
  summary: 'The name of a session cookie or header is invalid or reserved.',
  effect: deniedWhenStrict,
  varies: ['condition', 'reason', 'scope'],
  source:
    'RFC 9110 section 7.6.1; RFC 6265bis, cookie name prefixes; Gateway API v1.7.0, CookieConfig.name and HeaderConfig.name',
  check(subject, _read, report) {
    for (const { session, path, unserved } of sessionParts(subject)) {
      const reportUnserved = violationsAt(path, report, unserved);
      judgeHeader(session, reportUnserved);
      const named = nameOf(session);
      if (named !== undefined && !isToken(named.name))
        reportUnserved({ ...invalidName(named.name), below: named.below });
      judgePrefix(session, violationsAt(path, report));
    }
  },
});

/** Clients and proxies treat these headers differently, so the rule cannot be served. */
function judgeHeader(session: Session, report: ReportViolation): void {
  const named = nameOf(session);
  if (named === undefined || sessionType(session) !== 'Header' || !reservedNames.has(headerKey(named.name))) return;
  report({
    below: named.below,
    value: display(named.name),
    message: `Header ${quote(named.name)} is reserved: clients and proxies change or remove it. Use another name, for example x-session.`,
  });
}

/** Browsers ignore such a cookie, which does not affect the requests themselves. */
function judgePrefix(session: Session, report: ReportViolation): void {
  const named = nameOf(session);
  const path = cookiePath(session);
  if (named === undefined || sessionType(session) === 'Header' || !named.name.startsWith('__Host-') || path === '/')
    return;
  report({
    below: named.below,
    value: display(named.name),
    message: `Cookie name ${quote(named.name)} conflicts with path ${quote(path)}: browsers accept __Host- cookies only with path "/". Use path: /, or a name without __Host-.`,
  });
}

function judgeToken(name: string, report: ReportViolation): void {
  if (isToken(name) || controlCharacter(name) !== undefined) return;
  report(invalidName(name));
}

function invalidName(name: string): Violation {
  return {
    below: [],
    value: display(name),
    message: `Invalid cookie or header name ${quote(name)}. Use only letters, digits, "-" and "_", for example shop-session.`,
  };
}

export const sessionNameUnreserved = demand(sessionNameReserved, function judge(session: Session, report) {
  judgeHeader(session, report);
  judgePrefix(session, report);
});

/** For bundles before v1.7. Another rule denies control characters. */
export const sessionNameToken = demand(sessionNameReserved, judgeToken, 'sessionName');
