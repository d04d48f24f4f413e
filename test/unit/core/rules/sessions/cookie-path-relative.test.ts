import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('cookie-path-relative', () => {
  test.each<[object]>([[{ cookie: { path: '/cart' } }]])('%j is fine', (value) => {
    expect(remarks('cookie-path-relative', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { cookie: { path: 'cart' } },
      [
        'spec.rules[0].sessionPersistence.cookie.path',
        'Invalid cookie path "cart": it does not start with "/", so browsers ignore it. Use "/cart", or remove path.',
      ],
    ],
    [
      { cookie: { path: '' } },
      [
        'spec.rules[0].sessionPersistence.cookie.path',
        'Invalid cookie path "": it does not start with "/", so browsers ignore it. Use "/", or remove path.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('cookie-path-relative', object(value))).toEqual(expected);
  });
});
