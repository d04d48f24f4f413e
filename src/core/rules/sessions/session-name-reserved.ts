import { display, quote } from '../../text/display.ts';
import { controlCharacter, headerKey, isToken } from '../../text/header.ts';
import { demand, unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { nameOf, type Session } from './sessions.ts';

/** Names that mean something to HTTP, to browsers or to the gateway itself. */
const reservedNames: ReadonlySet<string> = new Set([
  'host', 'cookie', 'set-cookie', 'authorization', 'proxy-authorization', 'connection', 'keep-alive', 'proxy-connection', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'content-length', 'content-type', 'forwarded', 'x-forwarded-for', 'via',
]);

export const sessionNameReserved = unenforcedRule({
  id: 'session-name-reserved',
  summary: 'Sessions are tied by a name that no cookie or header can have, or that means something else.',
  effect: deniedWhenStrict,
  source: 'RFC 9110 section 7.6.1; RFC 6265bis, cookie name prefixes; Gateway API v1.7.0, CookieConfig.name and HeaderConfig.name',
}, function judge(session: Session, report) {
  const named = nameOf(session);
  if (named === undefined) return;
  const { name, below } = named;
  const path = session.cookie?.path ?? '/';
  if (session.type === 'Header' && reservedNames.has(headerKey(name))) {
    report({ below, value: display(name), message: `The header ${quote(name)} means something else to clients and proxies, which change or remove it. Write a name of your own, such as x-session.` });
  } else if (session.type !== 'Header' && name.startsWith('__Host-') && path !== '/') {
    report({ below, value: display(name), message: `Browsers take a cookie called ${quote(name)} only with the path "/", not ${quote(path)}. Write path: /, or a name without __Host-.` });
  }
});

/** Before v1.7; control characters are the concern of a rule that denies. */
export const sessionNameToken = demand(sessionNameReserved, function judge(name: string, report) {
  if (!isToken(name) && controlCharacter(name) === undefined) report({ below: [], value: display(name), message: `${quote(name)} cannot be the name of a cookie or header. Write letters, digits, - and _ only, such as shop-session.` });
}, 'sessionName');
