import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('regex-not-portable', () => {
  test.each<[object]>([
    [{ matches: [{ path: { type: 'RegularExpression', value: '/(cart|shop)/[0-9]+' } }] }],
    [{ matches: [{ path: { type: 'RegularExpression', value: '/\\d+\\.html' } }] }],
    [{ matches: [{ path: { type: 'RegularExpression', value: '/a\\+?' } }] }],
    [{ matches: [{ path: { type: 'RegularExpression', value: '/[\\[]a{2}b{1,}c{0,255}\\{[^a-z][]-]' } }] }],
    [{ matches: [{ path: { value: '/a' }, headers: [{ name: 'x-team', value: '(?i)' }] }] }],
    [{ matches: [{ path: { type: 'RegularExpression', value: '/(?=a)' } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('regex-not-portable', object(value))).toEqual([]);
  });

  // The search for flags took the square of the letters: of these a minute.
  test('a group of many letters is read once', () => {
    const value = `/(?${'a'.repeat(200_000)}`;
    expect(
      remarks('regex-not-portable', object({ matches: [{ path: { type: 'RegularExpression', value } }] })),
    ).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { matches: [{ path: { type: 'RegularExpression', value: '(?i)/cart' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "(?i)/cart" sets flags, which other implementations may reject or interpret differently. List both cases, for example [Aa].',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/cart(?:s|es)' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/cart(?:s|es)" uses a special group, which other implementations may reject or interpret differently. Use a plain group, ( ).',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/.*?/cart' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/.*?/cart" uses a lazy or possessive quantifier, which other implementations may reject or interpret differently. Use the plain quantifier: it matches the same texts.',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/\\D+' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/\\\\D+" uses an uncommon escape, which other implementations may reject or interpret differently. Use a set such as [^0-9] instead.',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/[[:alpha:]]+' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/[[:alpha:]]+" uses a named class, which other implementations may reject or interpret differently. List the characters, for example [a-z].',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/[a[]' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/[a[]" contains [ within a set, which other implementations may reject or interpret differently. Write \\[ there.',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '^*/cart' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "^*/cart" repeats ^, which other implementations may reject or interpret differently. Use it once.',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/a{cart}' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/a{cart}" contains { that does not start a count, which other implementations may reject or interpret differently. Write \\{ for the sign itself.',
      ],
    ],
    [
      { matches: [{ path: { type: 'RegularExpression', value: '/a{1,256}' } }] },
      [
        'spec.rules[0].matches[0].path.value',
        'Regular expression "/a{1,256}" counts beyond 255, which other implementations may reject or interpret differently. Use a smaller count.',
      ],
    ],
    [
      { matches: [{ headers: [{ name: 'x-team', type: 'RegularExpression', value: '(?P<team>a)' }] }] },
      [
        'spec.rules[0].matches[0].headers[0].value',
        'Regular expression "(?P<team>a)" uses a named group, which other implementations may reject or interpret differently. Use a plain group, ( ).',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('regex-not-portable', object(value))).toEqual(expected);
  });
});
