import { describe, expect, test } from '@jest/globals';
import { cookiePathUnsafe } from '../../../../../src/core/rules/sessions/cookie-path-unsafe.ts';
import { consequences, objectOf, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('cookie-path-unsafe', () => {
  test.each<[object]>([[{ cookie: { path: '/cart' } }], [{ cookie: {} }]])('%j is fine', (value) => {
    expect(remarks('cookie-path-unsafe', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { cookie: { path: '/cart; Domain=example.com' } },
      [
        'spec.rules[0].sessionPersistence.cookie.path',
        'Invalid cookie path "/cart; Domain=example.com": it contains ";", which ends the path. Remove it.',
      ],
    ],
    [
      { cookie: { path: '/a\r\nset-cookie: b' } },
      [
        'spec.rules[0].sessionPersistence.cookie.path',
        'Invalid cookie path "/a\\r\\nset-cookie: b": it contains "\\r", which ends the path. Remove it.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('cookie-path-unsafe', object(value))).toEqual(expected);
  });

  test.each([
    ['XBackendTrafficPolicy', {}],
    ['XBackend', { type: 'EndpointSelector', port: { number: 80 } }],
  ])('an object of the kind %s is invalid', (kind, spec) => {
    const sessionPersistence = { cookie: { path: '/;' } };
    expect(consequences(cookiePathUnsafe, objectOf(kind, 'v1alpha1', { ...spec, sessionPersistence }))).toEqual([
      'Accepted Invalid object',
    ]);
  });
});
