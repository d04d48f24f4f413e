import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

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
});
