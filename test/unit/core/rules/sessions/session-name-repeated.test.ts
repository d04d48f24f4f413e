import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessions: readonly object[]): unknown => soundRoute({}, { rules: sessions.map((sessionPersistence, index) => ({ matches: [{ path: { value: `/${index}` } }], backendRefs: [{ name: 'cart', port: 80 }], sessionPersistence })) });

describe('session-name-repeated', () => {
  test.each<[readonly object[]]>([
    [[ { cookie: { name: 'cart' } }, { cookie: { name: 'shop' } } ]],
    [[ { cookie: { name: 'a', path: '/a' } }, { cookie: { name: 'a', path: '/b' } } ]],
    [[ { cookie: {} }, { cookie: {} } ]],
  ])('%j is fine', (value) => {
    expect(remarks('session-name-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [[ { cookie: { name: 'session' } }, { cookie: { name: 'session' } } ], [ 'spec.rules[1].sessionPersistence.cookie.name', 'rules[0] ties sessions by "session", too, so a client of both loses one of its sessions. Write another name.' ]],
    [[ { type: 'Header', header: { name: 'x-session' } }, { type: 'Header', header: { name: 'x-session' } } ], [ 'spec.rules[1].sessionPersistence.header.name', 'rules[0] ties sessions by "x-session", too, so a client of both loses one of its sessions. Write another name.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-name-repeated', object(value))).toEqual(expected);
  });
});
