import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('session-name-reserved', () => {
  test.each<[object]>([
    [{ type: 'Header', header: { name: 'x-session' } }],
    [{ cookie: { name: '__Host-cart' } }],
  ])('%j is fine', (value) => {
    expect(remarks('session-name-reserved', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ type: 'Header', header: { name: 'Authorization' } }, [ 'spec.rules[0].sessionPersistence.header.name', 'The header "Authorization" means something else to clients and proxies, which change or remove it. Write a name of your own, such as x-session.' ]],
    [{ cookie: { name: '__Host-cart', path: '/cart' } }, [ 'spec.rules[0].sessionPersistence.cookie.name', 'Browsers take a cookie called "__Host-cart" only with the path "/", not "/cart". Write path: /, or a name without __Host-.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-name-reserved', object(value))).toEqual(expected);
  });

  test('a name of which nothing was demanded before v1.7', () => {
    const before = (sessionName: string) => remarks('session-name-reserved', object({ sessionName }), { minor: '1.6', channel: 'experimental' });
    expect(before('my_shop')).toEqual([]);
    expect(before('my shop')).toEqual([
      ['spec.rules[0].sessionPersistence.sessionName', '"my shop" cannot be the name of a cookie or header. Write letters, digits, - and _ only, such as shop-session.'],
    ]);
  });
});
