import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (value: string, type = 'RegularExpression'): unknown =>
  soundRoute({ matches: [{ path: { type, value } }] });

describe('regex-path-without-slash', () => {
  test.each([
    '/cart',
    '^/cart',
    '.*',
    '.*/cart',
    '(cart|/shop)',
    '(?:cart)?/x',
    '[^a-z]cart',
    '[/a]cart',
    '[+-9]cart',
    'a*/cart',
    'a?/cart',
    'a{0,1}/cart',
    '\\w*/cart',
    '\\/cart',
    '/a|cart|.b',
    '',
  ])('%s is fine', (value) => {
    expect(remarks('regex-path-without-slash', object(value))).toEqual([]);
  });

  test('other types of matches are fine', () => {
    expect(remarks('regex-path-without-slash', object('cart', 'PathPrefix'))).toEqual([]);
    expect(
      remarks(
        'regex-path-without-slash',
        soundRoute({ matches: [{ headers: [{ name: 'x', type: 'RegularExpression', value: 'cart' }] }] }),
      ),
    ).toEqual([]);
  });

  test.each([
    ['cart/.*', '/cart/.*'],
    ['^cart', '/cart'],
    ['[a-z0-9]+/cart', '/[a-z0-9]+/cart'],
    ['cart|^shop', '/cart|/shop'],
    ['\\.well-known', '/\\.well-known'],
  ])('%s', (value, cure) => {
    expect(remarks('regex-path-without-slash', object(value))).toEqual([
      [
        'spec.rules[0].matches[0].path.value',
        `Regular expression ${JSON.stringify(value)} matches no path: every path starts with "/". Use ${JSON.stringify(cure)}.`,
      ],
    ]);
  });
});
