import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (rules: readonly object[]): unknown =>
  objectOf('TCPRoute', 'v1alpha2', { parentRefs: [{ name: 'front' }], rules });
const bundle = { minor: '1.7', channel: 'experimental' } as const;

describe('rule-beyond-first', () => {
  test.each<[readonly object[]]>([
    [
      [
        {
          backendRefs: [
            { name: 'a', port: 1 },
            { name: 'b', port: 1 },
          ],
        },
      ],
    ],
  ])('%j is fine', (value) => {
    expect(remarks('rule-beyond-first', object(value), bundle)).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [{ backendRefs: [{ name: 'a', port: 1 }] }, { backendRefs: [{ name: 'b', port: 1 }] }],
      [
        'spec.rules[1]',
        'Too many rules: v1 of this kind allows exactly one. The other rules get no traffic, and the route cannot be converted to v1. Use one rule with all backendRefs.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('rule-beyond-first', object(value), bundle)).toEqual(expected);
  });
});
