import { display, quote } from '../../text/display.ts';
import { parseDuration } from '../../text/duration.ts';
import { controlCharacter, headerKey, isToken } from '../../text/header.ts';
import { controlCharacterInValue } from '../headers/control-character-in-value.ts';
import { demand, unenforcedRule, type Violation } from '../engine/demand.ts';
import { denied, deniedWhenStrict, warned } from '../engine/effects.ts';

// Session persistence: which cookie or header ties a client to a backend.

interface Session {
  readonly type?: string;
  readonly absoluteTimeout?: string;
  readonly sessionName?: string;
  readonly cookie?: { readonly name?: string; readonly path?: string };
  readonly header?: { readonly name?: string };
}

/** The name of the cookie or header, and where it stands. */
function nameOf({ type = 'Cookie', sessionName, cookie, header }: Session): { readonly name: string; readonly below: readonly string[] } | undefined {
  const [member, settings] = type === 'Header' ? ['header', header] as const : ['cookie', cookie] as const;
  if (settings?.name !== undefined) return { name: settings.name, below: [member, 'name'] };
  return sessionName === undefined ? undefined : { name: sessionName, below: ['sessionName'] };
}

export const sessionNameRepeated = unenforcedRule({
  id: 'session-name-repeated',
  summary: 'Two rules tie sessions to backends by one cookie or header.',
  effect: warned,
  source: 'GEP-1619, Session Persistence (naming collisions); Gateway API v1.7.0, CookieConfig.name and HeaderConfig.name',
}, function judge(rules: readonly { readonly sessionPersistence?: Session }[], report) {
  const first = new Map<string, number>();
  for (const [index, { sessionPersistence }] of rules.entries()) {
    const session = sessionPersistence === undefined ? undefined : nameOf(sessionPersistence);
    if (session === undefined) continue;
    const key = `${sessionPersistence?.type ?? 'Cookie'} ${sessionPersistence?.cookie?.path ?? '/'} ${session.name}`;
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else report({ below: [index, 'sessionPersistence', ...session.below], value: display(session.name), message: `rules[${before}] ties sessions by ${quote(session.name)}, too, so a client of both loses one of its sessions. Write another name.` });
  }
});

export const sessionEndsAtOnce = unenforcedRule({
  id: 'session-ends-at-once',
  summary: 'A session ends as soon as it begins.',
  effect: warned,
  source: 'Gateway API v1.7.0, SessionPersistence.absoluteTimeout; GEP-1619',
}, function judge({ absoluteTimeout }: Session, report) {
  const parsed = absoluteTimeout === undefined ? undefined : parseDuration(absoluteTimeout);
  if (parsed?.ok !== true || parsed.milliseconds > 0) return;
  report({ below: ['absoluteTimeout'], value: absoluteTimeout ?? '', message: `absoluteTimeout: ${absoluteTimeout} ends every session at once. Write how long one may last, e.g. 1h, or leave it out for no end.` });
});

/** Before v1.7 nothing said of what a name is made. */
export const sessionNameVisible = demand(controlCharacterInValue.id, function judge(name: string, report) {
  const found = controlCharacter(name);
  if (found !== undefined) report({ below: [], value: display(name), message: `${quote(name)} holds the control character ${found}, which no cookie or header has in its name. Remove it.` });
}, 'sessionName');

/** It goes into the Set-Cookie header as it is. */
export const cookiePathUnsafe = unenforcedRule({
  id: 'cookie-path-unsafe',
  summary: 'The path of a cookie holds a character that ends it.',
  effect: denied,
  source: 'RFC 6265 section 4.1.1 (path-value); Gateway API v1.7.0, CookieConfig.path',
}, function judge(path: string, report) {
  const found = controlCharacter(path) ?? (path.includes(';') ? quote(';') : undefined);
  if (found === undefined) return;
  report({ below: [], value: display(path), message: `The cookie path ${quote(path)} holds ${found}, after which a browser reads something else. Remove it.` });
});

export const cookiePathRelative = unenforcedRule({
  id: 'cookie-path-relative',
  summary: 'The path of a cookie does not begin with a slash, so browsers ignore it.',
  effect: warned,
  source: 'RFC 6265 section 5.2.4; Gateway API v1.7.0, CookieConfig.path',
}, function judge(path: string, report) {
  if (path.startsWith('/')) return;
  report({ below: [], value: display(path), message: `Browsers ignore the cookie path ${quote(path)}, since it does not begin with "/". Write ${quote(`/${path}`)}, or leave path out.` });
});

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
export const sessionNameToken = demand(sessionNameReserved.id, function judge(name: string, report) {
  if (!isToken(name) && controlCharacter(name) === undefined) report({ below: [], value: display(name), message: `${quote(name)} cannot be the name of a cookie or header. Write letters, digits, - and _ only, such as shop-session.` });
}, 'sessionName');

export const sessionPolicyDeprecated = unenforcedRule({
  id: 'session-policy-deprecated',
  summary: 'A policy or route ties sessions to backends, which XBackends do since v1.7.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTrafficPolicySpec.sessionPersistence, HTTPRouteRule.sessionPersistence and GRPCRouteRule.sessionPersistence (deprecated); GEP-1619',
}, (_value, report) => report(deprecatedIn('an XBackendTrafficPolicy')));

export const sessionOfRouteDeprecated = demand(sessionPolicyDeprecated.id, (_value, report) => report(deprecatedIn('a route')), 'route');

function deprecatedIn(where: string): Violation {
  return { below: [], message: `sessionPersistence of ${where} is deprecated and will be removed; an XBackend has it since v1.7. Move it there once your implementation serves XBackends.` };
}

/** XBackends of these protocols carry no HTTP requests that a cookie or header could be in. */
const withoutHttp: ReadonlySet<string> = new Set(['TCP', 'MCP']);

export const sessionWithoutHttp = unenforcedRule({
  id: 'session-without-http',
  summary: 'Sessions are tied by cookie or header on a protocol that has neither.',
  effect: warned,
  source: 'GEP-1619, Session Persistence; Gateway API v1.7.0, BackendSpec.protocol',
}, function judge({ protocol = '', sessionPersistence }: { readonly protocol?: string; readonly sessionPersistence?: object }, report) {
  if (sessionPersistence === undefined || !withoutHttp.has(protocol)) return;
  report({ below: ['sessionPersistence'], message: `protocol: ${protocol} carries no HTTP requests in which a cookie or header could be. Remove sessionPersistence, or write protocol: HTTP.` });
});
