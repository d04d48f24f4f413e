import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('cookie-path-relative', () => {
  test.each<[object]>([
    [{ cookie: { path: '/cart' } }],
  ])('%j is fine', (value) => {
    expect(remarks('cookie-path-relative', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ cookie: { path: 'cart' } }, [ 'spec.rules[0].sessionPersistence.cookie.path', 'Browsers ignore the cookie path "cart", since it does not begin with "/". Write "/cart", or leave path out.' ]],
    [{ cookie: { path: '' } }, [ 'spec.rules[0].sessionPersistence.cookie.path', 'Browsers ignore the cookie path "", since it does not begin with "/". Write "/", or leave path out.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('cookie-path-relative', object(value))).toEqual(expected);
  });
});
