import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('regex-not-portable', () => {
  test.each<[object]>([
    [{ matches: [ { path: { type: 'RegularExpression', value: '/(cart|shop)/[0-9]+' } } ] }],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/\\d+\\.html' } } ] }],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/a\\+?' } } ] }],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/[\\[]a{2}b{1,}c{0,255}\\{[^a-z][]-]' } } ] }],
    [{ matches: [ { path: { value: '/a' }, headers: [ { name: 'x-team', value: '(?i)' } ] } ] }],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/(?=a)' } } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('regex-not-portable', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ matches: [ { path: { type: 'RegularExpression', value: '(?i)/cart' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "(?i)/cart" sets flags, which other implementations may read otherwise or refuse. Spell both cases out, e.g. [Aa].' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/cart(?:s|es)' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/cart(?:s|es)" has a group of its own kind, which other implementations may read otherwise or refuse. Write a plain group, ( ).' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/.*?/cart' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/.*?/cart" has a lazy or possessive quantifier, which other implementations may read otherwise or refuse. Write the quantifier alone: whether a text matches is the same.' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/\\D+' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/\\\\D+" has an escape that is not common, which other implementations may read otherwise or refuse. Write a set such as [^0-9] instead.' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/[[:alpha:]]+' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/[[:alpha:]]+" has a named class, which other implementations may read otherwise or refuse. Write the characters, e.g. [a-z].' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/[a[]' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/[a[]" has [ within a set, which other implementations may read otherwise or refuse. Write \\[ there.' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '^*/cart' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "^*/cart" repeats ^, which other implementations may read otherwise or refuse. Write it once.' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/a{cart}' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/a{cart}" has { that begins no count, which other implementations may read otherwise or refuse. Write \\{ for the sign itself.' ]],
    [{ matches: [ { path: { type: 'RegularExpression', value: '/a{1,256}' } } ] }, [ 'spec.rules[0].matches[0].path.value', 'The regular expression "/a{1,256}" counts beyond 255, which other implementations may read otherwise or refuse. Write a smaller count.' ]],
    [{ matches: [ { headers: [ { name: 'x-team', type: 'RegularExpression', value: '(?P<team>a)' } ] } ] }, [ 'spec.rules[0].matches[0].headers[0].value', 'The regular expression "(?P<team>a)" names a group, which other implementations may read otherwise or refuse. Write a plain group, ( ).' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('regex-not-portable', object(value))).toEqual(expected);
  });
});
