import { describe, expect, test } from '@jest/globals';
import { sessionNameReserved } from '../../../../../src/core/rules/sessions/session-name-reserved.ts';
import { consequences, objectOf, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('session-name-reserved', () => {
  test.each<[object]>([[{ type: 'Header', header: { name: 'x-session' } }], [{ cookie: { name: '__Host-cart' } }]])(
    '%j is fine',
    (value) => {
      expect(remarks('session-name-reserved', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { type: 'Header', header: { name: 'Authorization' } },
      [
        'spec.rules[0].sessionPersistence.header.name',
        'Header "Authorization" is reserved: clients and proxies change or remove it. Use another name, for example x-session.',
      ],
    ],
    [
      { type: 'Header', header: { name: 'Expect' } },
      [
        'spec.rules[0].sessionPersistence.header.name',
        'Header "Expect" is reserved: clients and proxies change or remove it. Use another name, for example x-session.',
      ],
    ],
    [
      { cookie: { name: '__Host-cart', path: '/cart' } },
      [
        'spec.rules[0].sessionPersistence.cookie.name',
        'Cookie name "__Host-cart" conflicts with path "/cart": browsers accept __Host- cookies only with path "/". Use path: /, or a name without __Host-.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-name-reserved', object(value))).toEqual(expected);
  });

  test('a name of which nothing was demanded before v1.7', () => {
    const before = (sessionName: string) =>
      remarks('session-name-reserved', object({ sessionName }), { minor: '1.6', channel: 'experimental' });
    expect(before('my_shop')).toEqual([]);
    expect(before('my shop')).toEqual([
      [
        'spec.rules[0].sessionPersistence.sessionName',
        'Invalid cookie or header name "my shop". Use only letters, digits, "-" and "_", for example shop-session.',
      ],
    ]);
  });

  test.each([
    ['XBackendTrafficPolicy', {}],
    ['XBackend', { type: 'EndpointSelector', port: { number: 80 } }],
  ])('an object of the kind %s is invalid', (kind, spec) => {
    const sessionPersistence = { type: 'Header', header: { name: 'Cookie' } };
    expect(consequences(sessionNameReserved, objectOf(kind, 'v1alpha1', { ...spec, sessionPersistence }))).toEqual([
      'Accepted Invalid object',
    ]);
  });
});
