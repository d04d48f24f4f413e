import { hash, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Session } from '../../../../src/core/routing/config.ts';
import { createCounters } from '../../../../src/proxy/counters.ts';
import { SessionKeys } from '../../../../src/proxy/sessions/session-keys.ts';
import { Sessions } from '../../../../src/proxy/sessions/sessions.ts';
import { openToken } from '../../../../src/proxy/sessions/token.ts';
import { Endpoint, EndpointSet } from '../../../../src/proxy/upstream/endpoints.ts';

const cookie: Session = {
  type: 'cookie',
  identity: 'HTTPRoute/shop/cart 0',
  name: 'cart',
  path: '/',
  permanent: false,
};
const header: Session = { type: 'header', identity: 'HTTPRoute/shop/cart 0', name: 'X-Session' };
const [one, two, three] = [1, 2, 3].map((number) => new Endpoint(`10.0.0.${number}`, 80)) as [
  Endpoint,
  Endpoint,
  Endpoint,
];
const both = new EndpointSet([one, two]);

function keyMaterial(id: string, from = 0) {
  return { id, secret: randomBytes(32).toString('base64url'), from };
}

function sessionsAt(
  clock: { now: number },
  keys = [keyMaterial('00000001')],
  counts = createCounters().sessions,
): Sessions {
  const sessions = new Sessions(counts, () => clock.now);
  sessions.setKeys(keys);
  return sessions;
}

function requestWith(...fields: readonly string[]) {
  return { fields, names: fields.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()) };
}

const cartBackend = 'endpoints/shop/cart/80';

interface To {
  readonly endpoint?: Endpoint;
  readonly set?: EndpointSet;
  readonly backend?: string;
}

/** The fields of the answer to a request that goes to this endpoint. */
function answer(
  sessions: Sessions,
  terms: Session,
  fields: readonly string[],
  { endpoint = one, backend = cartBackend }: To = {},
) {
  return sessions.open(terms, requestWith(...fields), backend)?.fieldsFor(endpoint, 'https') ?? [];
}

function pinned(
  sessions: Sessions,
  terms: Session,
  fields: readonly string[],
  { set = both, backend = cartBackend }: To = {},
) {
  return sessions.open(terms, requestWith(...fields), backend)?.endpointIn(set, [], 0);
}

/** What a client sends after it got these fields. */
function returned([, setCookie = '']: readonly string[], name = 'cookie'): readonly string[] {
  return [name, setCookie.split(';')[0] ?? ''];
}

describe('session persistence', () => {
  test('a client without a session gets a cookie, and with it the same endpoint and no further cookie', () => {
    const sessions = sessionsAt({ now: 1_000 });
    expect(pinned(sessions, cookie, [])).toBeUndefined();
    const given = answer(sessions, cookie, [], { endpoint: two });
    expect(given).toEqual([
      'set-cookie',
      expect.stringMatching(/^cart=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ]);
    expect(pinned(sessions, cookie, returned(given))).toBe(two);
    expect(answer(sessions, cookie, returned(given), { endpoint: two })).toEqual([]);
  });

  test('Secure is left out without TLS, where browsers would ignore the cookie', () => {
    const session = sessionsAt({ now: 1_000 }).open(cookie, requestWith(), 'b');
    expect(session?.fieldsFor(one, 'http')[1]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('a permanent cookie has Max-Age, the rest of its session after that; a cookie of the session never has', () => {
    const clock = { now: 1_000 };
    const [old, next] = [keyMaterial('00000001'), keyMaterial('00000002', 100_000)];
    const sessions = sessionsAt(clock, [old, next]);
    const terms: Session = { ...cookie, permanent: true, absoluteTimeout: 300_000, path: '/cart' };
    const given = answer(sessions, terms, []);
    expect(given[1]).toMatch(/; Path=\/cart; Max-Age=300; HttpOnly/);
    clock.now = 101_000;
    expect(answer(sessions, terms, returned(given))[1]).toMatch(/; Max-Age=200;/);
    expect(answer(sessions, { ...terms, permanent: false }, [])[1]).not.toMatch(/Max-Age|Expires/);
  });

  test('a header works like a cookie', () => {
    const sessions = sessionsAt({ now: 1_000 });
    const given = answer(sessions, header, [], { endpoint: two });
    expect(given).toEqual(['X-Session', expect.stringMatching(/^[\w-]+$/)]);
    expect(pinned(sessions, header, ['x-SESSION', given[1] ?? ''])).toBe(two);
    expect(answer(sessions, header, ['x-session', given[1] ?? ''], { endpoint: two })).toEqual([]);
  });

  test('of several cookies of that name the first valid one counts, in one field or in several, and of too many none', () => {
    const sessions = sessionsAt({ now: 1_000 });
    const own = returned(answer(sessions, cookie, [], { endpoint: two }))[1] ?? '';
    expect(pinned(sessions, cookie, ['cookie', `a=b; cart=forged; ${own}; cartx=1`])).toBe(two);
    expect(pinned(sessions, cookie, ['cookie', 'cart=forged', 'accept', '*/*', 'Cookie', own])).toBe(two);
    expect(pinned(sessions, cookie, ['cookie', `${'cart=forged; '.repeat(4)}${own}`])).toBeUndefined();
    expect(pinned(sessions, cookie, ['cookie', own.replace('cart=', 'CART=')])).toBeUndefined();
  });

  test.each<[boolean, (own: string) => string]>([
    [true, (own) => `${';'.repeat(31_000)}${own}`],
    [true, (own) => `a=b;\t ${own} ; c=d`],
    [true, (own) => `acart=1; cart=forged; ${own}`],
    [true, (own) => `cart=cart=; ${own}`],
    [false, (own) => `a${own}`],
    [false, (own) => `a ${own}`],
    [false, (own) => `cart=${own}`],
    [false, (own) => `acart=${own}`],
    [false, (own) => own.replace('=', ' =')],
  ])('only a whole cookie of that name counts (%p, case %#)', (counts, fieldOf) => {
    const sessions = sessionsAt({ now: 1_000 });
    const own = returned(answer(sessions, cookie, [], { endpoint: two }))[1] ?? '';
    expect(pinned(sessions, cookie, ['cookie', fieldOf(own)])).toBe(counts ? two : undefined);
  });

  test('of several valid cookies the newest counts, for example beside one of a former path', () => {
    const clock = { now: 1_000 };
    const sessions = sessionsAt(clock);
    const valueOf = (endpoint: Endpoint): string => answer(sessions, cookie, [], { endpoint })[1]?.split(';')[0] ?? '';
    const former = valueOf(one);
    clock.now = 61_000;
    const present = valueOf(two);
    expect(pinned(sessions, cookie, ['Cookie', `${former}; ${present}`])).toBe(two);
    expect(pinned(sessions, cookie, ['Cookie', `${present}; ${former}`])).toBe(two);
  });

  test('where the endpoint is gone, suspended or tried, another one is chosen and the session is renewed', () => {
    const sessions = sessionsAt({ now: 1_000 });
    const request = returned(answer(sessions, cookie, [], { endpoint: two }));
    expect(pinned(sessions, cookie, request, { set: new EndpointSet([one, three]) })).toBeUndefined();
    expect(
      sessions.open(cookie, requestWith(...request), 'endpoints/shop/cart/80')?.endpointIn(both, [two], 0),
    ).toBeUndefined();
    const failing = new Endpoint('10.0.0.2', 80);
    failing.connectFailed(0);
    expect(pinned(sessions, cookie, request, { set: new EndpointSet([one, failing]) })).toBeUndefined();
    const renewed = answer(sessions, cookie, request, { endpoint: three });
    expect(pinned(sessions, cookie, returned(renewed), { set: new EndpointSet([one, two, three]) })).toBe(three);
  });

  test('each backend has its own endpoint, in one cookie', () => {
    const sessions = sessionsAt({ now: 1_000 });
    const first = answer(sessions, cookie, [], { endpoint: one, backend: 'endpoints/shop/v1/80' });
    const second = answer(sessions, cookie, returned(first), { endpoint: two, backend: 'endpoints/shop/v2/80' });
    expect(pinned(sessions, cookie, returned(second), { backend: 'endpoints/shop/v1/80' })).toBe(one);
    expect(pinned(sessions, cookie, returned(second), { backend: 'endpoints/shop/v2/80' })).toBe(two);
    expect(pinned(sessions, cookie, returned(second), { backend: 'endpoints/shop/v3/80' })).toBeUndefined();
  });

  // XBackends of a namespace can share a cookie name.
  test('in one cookie, the session with a backend lasts as long as that backend says, whatever the others say', () => {
    const clock = { now: 1_000 };
    const sessions = sessionsAt(clock);
    const long = { terms: { ...cookie, permanent: true, absoluteTimeout: 600_000 }, backend: 'endpoints/shop/v1/80' };
    const short = { terms: { ...cookie, permanent: true, absoluteTimeout: 60_000 }, backend: 'endpoints/shop/v2/80' };
    const first = answer(sessions, long.terms, [], { ...long, endpoint: one });
    clock.now = 301_000;
    const second = answer(sessions, short.terms, returned(first), { ...short, endpoint: two });
    expect(second[1]).toMatch(/; Max-Age=300;/);
    expect(pinned(sessions, long.terms, returned(second), long)).toBe(one);
    expect(pinned(sessions, short.terms, returned(second), short)).toBe(two);
    clock.now = 361_000;
    expect(pinned(sessions, long.terms, returned(second), long)).toBe(one);
    expect(pinned(sessions, short.terms, returned(second), short)).toBeUndefined();
    const third = answer(sessions, short.terms, returned(second), { ...short, endpoint: one });
    expect(third[1]).toMatch(/; Max-Age=240;/);
    clock.now = 601_000;
    expect(pinned(sessions, long.terms, returned(third), long)).toBeUndefined();
    const fourth = answer(sessions, short.terms, returned(third), { ...short, endpoint: two });
    expect(fourth[1]).toMatch(/; Max-Age=60;/);
  });

  test('the cookie of one rule means nothing to another of the same name', () => {
    const sessions = sessionsAt({ now: 1_000 });
    const given = returned(answer(sessions, cookie, []));
    expect(pinned(sessions, { ...cookie, identity: 'HTTPRoute/shop/other 0' }, given)).toBeUndefined();
  });

  test('a session ends with absoluteTimeout, however often it is used, and a replay does not prolong it', () => {
    const clock = { now: 1_000 };
    const sessions = sessionsAt(clock);
    const terms = { ...cookie, absoluteTimeout: 60_000 };
    const request = returned(answer(sessions, terms, [], { endpoint: two }));
    clock.now = 60_999;
    expect(pinned(sessions, terms, request)).toBe(two);
    clock.now = 61_000;
    expect(pinned(sessions, terms, request)).toBeUndefined();
    expect(pinned(sessions, { ...cookie, absoluteTimeout: 0 }, request)).toBeUndefined();
  });

  test('a session ends with idleTimeout after its last use, which every answer notes', () => {
    const clock = { now: 1_000 };
    const sessions = sessionsAt(clock);
    const terms = { ...cookie, idleTimeout: 10_000 };
    let request = returned(answer(sessions, terms, [], { endpoint: two }));
    for (clock.now = 9_000; clock.now < 60_000; clock.now += 8_000) {
      expect(pinned(sessions, terms, request)).toBe(two);
      request = returned(answer(sessions, terms, request, { endpoint: two }));
    }
    clock.now += 3_000;
    expect(pinned(sessions, terms, request)).toBeUndefined();
  });

  test('a former key is still read, and its sessions move to the current one', () => {
    const clock = { now: 1_000 };
    const [old, next] = [keyMaterial('00000001', 0), keyMaterial('00000002', 50_000)];
    const sessions = sessionsAt(clock, [old, next]);
    const request = returned(answer(sessions, cookie, [], { endpoint: two }));
    expect(answer(sessions, cookie, request, { endpoint: two })).toEqual([]);
    clock.now = 60_000;
    expect(pinned(sessions, cookie, request)).toBe(two);
    const moved = returned(answer(sessions, cookie, request, { endpoint: two }));
    sessions.setKeys([next]);
    expect(pinned(sessions, cookie, request)).toBeUndefined();
    expect(pinned(sessions, cookie, moved)).toBe(two);
  });

  test('without keys nothing is persistent', () => {
    expect(sessionsAt({ now: 1 }, []).open(cookie, requestWith(), 'b')).toBeUndefined();
  });
});

describe('requests are counted by what becomes of their session', () => {
  const terms: Session = { ...cookie, idleTimeout: 10_000, absoluteTimeout: 15_000 };

  /** The outcome of one request with these fields, and a token of this time if it is given. */
  function outcomeOf(now: number, fields: (own: string) => readonly string[], to: To = {}): string {
    const clock = { now: 1_000 };
    const counts = createCounters().sessions;
    const sessions = sessionsAt(clock, [keyMaterial('00000001')], counts);
    const [, own = ''] = returned(answer(sessions, terms, [], { endpoint: two }));
    clock.now = now;
    pinned(sessions, terms, fields(own), to);
    const counted = Object.entries(counts).filter(([, count]) => count > 0);
    expect(counted.map(([, count]) => count)).toEqual([1]);
    return counted[0]?.[0] ?? '';
  }

  const withOwn = (own: string): readonly string[] => ['cookie', own];

  test.each<[string, number, (own: string) => readonly string[], To]>([
    ['honored: its endpoint', 2_000, withOwn, {}],
    ['honored: its endpoint, beside a forged one', 2_000, (own) => ['cookie', `cart=x; ${own}`], {}],
    ['endpoint-gone: an endpoint that is gone', 2_000, withOwn, { set: new EndpointSet([one]) }],
    ['expired: a session that was not used', 12_000, withOwn, {}],
    ['expired: a session that has ended', 17_000, withOwn, {}],
    ['invalid: any text', 2_000, () => ['cookie', 'cart=x'], {}],
    ['invalid: a long text', 2_000, () => ['cookie', `cart=${'A'.repeat(9_000)}`], {}],
    ['new: nothing', 2_000, () => [], {}],
    ['new: other cookies', 2_000, () => ['cookie', 'theme=dark'], {}],
    ['new: a session with another backend', 2_000, withOwn, { backend: 'endpoints/shop/other/80' }],
  ])('%s', (name, now, fields, to) => {
    expect(outcomeOf(now, fields, to)).toBe(name.split(':')[0]);
  });

  test('only once, however many endpoints are tried, and not without keys', () => {
    const counts = createCounters().sessions;
    const sessions = sessionsAt({ now: 1_000 }, [keyMaterial('00000001')], counts);
    const opened = sessions.open(terms, requestWith(), cartBackend);
    opened?.endpointIn(both, [], 0);
    opened?.endpointIn(both, [one], 0);
    // A new round of retries, and the retry after a stale connection, have tried no endpoint.
    opened?.endpointIn(both, [], 0);
    sessions.setKeys([]);
    expect(sessions.open(terms, requestWith(), cartBackend)).toBeUndefined();
    expect(counts).toEqual({ honored: 0, 'endpoint-gone': 0, expired: 0, invalid: 0, new: 1 });
  });
});

test('a token names backend and endpoint by the first eight bytes of their hashes, as tokens of earlier releases do', () => {
  const material = [keyMaterial('00000001')];
  const sessions = sessionsAt({ now: 1 }, material);
  const keys = new SessionKeys();
  keys.replace(material);
  const idOf = (text: string) => hash('sha256', text, 'buffer').toString('base64url', 0, 8);
  for (let number = 0; number < 100; number += 1) {
    const endpoint = new Endpoint(`10.0.1.${number}`, 80);
    const [, token = ''] = answer(sessions, header, [], { endpoint });
    expect(openToken(token, header.identity, keys)?.state.assignments).toMatchObject([
      { backend: idOf(cartBackend), endpoint: idOf(`10.0.1.${number}:80`) },
    ]);
    expect(pinned(sessions, header, ['X-Session', token], { set: new EndpointSet([one, endpoint]) })).toBe(endpoint);
  }
});
