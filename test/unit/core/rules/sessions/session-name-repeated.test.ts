import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessions: readonly object[]): unknown =>
  soundRoute(
    {},
    {
      rules: sessions.map((sessionPersistence, index) => ({
        matches: [{ path: { value: `/${index}` } }],
        backendRefs: [{ name: 'cart', port: 80 }],
        sessionPersistence,
      })),
    },
  );

describe('session-name-repeated', () => {
  test.each<[readonly object[]]>([
    [[{ cookie: { name: 'cart' } }, { cookie: { name: 'shop' } }]],
    [[{ cookie: { name: 'a', path: '/a' } }, { cookie: { name: 'a', path: '/b' } }]],
    [[{ cookie: {} }, { cookie: {} }]],
    [[{ cookie: { name: 'b c', path: '/a' } }, { cookie: { name: 'c', path: '/a b' } }]],
  ])('%j is fine', (value) => {
    expect(remarks('session-name-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ cookie: { name: 'session' } }, { cookie: { name: 'session' } }],
      [
        'spec.rules[1].sessionPersistence.cookie.name',
        'Duplicate session name "session": spec.rules[0] uses the same name, so clients of both rules lose one of their sessions. Use another name.',
      ],
    ],
    [
      [
        { type: 'Header', header: { name: 'x-session' } },
        { type: 'Header', header: { name: 'x-session' } },
      ],
      [
        'spec.rules[1].sessionPersistence.header.name',
        'Duplicate session name "x-session": spec.rules[0] uses the same name, so clients of both rules lose one of their sessions. Use another name.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-name-repeated', object(value))).toEqual(expected);
  });
});
