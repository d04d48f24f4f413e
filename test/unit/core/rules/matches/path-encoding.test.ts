import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('path-encoding', () => {
  test.each<[object]>([
    [{ matches: [{ path: { value: '/cart' } }] }],
    [{ matches: [{ path: { value: '/a%20b' } }] }],
    [{ matches: [{ path: { type: 'RegularExpression', value: '/%63' } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('path-encoding', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { matches: [{ path: { value: '/%63art' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Path "/%63art" percent-encodes characters unnecessarily, so it is compared as "/cart". Use "/cart".',
      ],
    ],
    [
      { matches: [{ path: { type: 'Exact', value: '/a/%2e%2e/b' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Path "/a/%2e%2e/b" percent-encodes characters unnecessarily, so it is compared as "/a/../b". Use the path that it resolves to.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('path-encoding', object(value))).toEqual(expected);
  });
});
