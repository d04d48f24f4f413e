import { display, quote } from '../../text/display.ts';
import { controlCharacter, headerKey, isToken } from '../../text/header.ts';
import { demand, unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { nameOf, type Session } from './sessions.ts';

/** Names with a meaning in HTTP, for browsers or for the gateway itself. */
const reservedNames: ReadonlySet<string> = new Set([
  'host',
  'cookie',
  'set-cookie',
  'authorization',
  'proxy-authorization',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-type',
  'forwarded',
  'x-forwarded-for',
  'via',
]);

export const sessionNameReserved = unenforcedRule(
  {
    id: 'session-name-reserved',
    summary: 'The name of a session cookie or header is invalid or reserved.',
    effect: deniedWhenStrict,
    source:
      'RFC 9110 section 7.6.1; RFC 6265bis, cookie name prefixes; Gateway API v1.7.0, CookieConfig.name and HeaderConfig.name',
  },
  function judge(session: Session, report) {
    const named = nameOf(session);
    if (named === undefined) return;
    const { name, below } = named;
    const path = session.cookie?.path ?? '/';
    if (session.type === 'Header' && reservedNames.has(headerKey(name))) {
      report({
        below,
        value: display(name),
        message: `Header ${quote(name)} is reserved: clients and proxies change or remove it. Use another name, for example x-session.`,
      });
    } else if (session.type !== 'Header' && name.startsWith('__Host-') && path !== '/') {
      report({
        below,
        value: display(name),
        message: `Cookie name ${quote(name)} conflicts with path ${quote(path)}: browsers accept __Host- cookies only with path "/". Use path: /, or a name without __Host-.`,
      });
    }
  },
);

/** For bundles before v1.7. Another rule denies control characters. */
export const sessionNameToken = demand(
  sessionNameReserved,
  function judge(name: string, report) {
    if (!isToken(name) && controlCharacter(name) === undefined)
      report({
        below: [],
        value: display(name),
        message: `Invalid cookie or header name ${quote(name)}. Use only letters, digits, "-" and "_", for example shop-session.`,
      });
  },
  'sessionName',
);
