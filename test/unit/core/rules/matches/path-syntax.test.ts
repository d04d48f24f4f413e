import { describe, expect, test } from '@jest/globals';
import { pathSyntax } from '../../../../../src/core/rules/matches/path-syntax.ts';
import { consequences, judge, routeWith } from '../../../../support/rules.ts';

describe('path-syntax', () => {
  test.each<[string, unknown]>([
    ['a path', { type: 'Exact', value: '/a/b' }],
    ['the default', {}],
    ['a regular expression', { type: 'RegularExpression', value: 'a//b#' }],
    ['an unknown type', { type: 'Glob', value: '*' }],
    ['a value that cannot be read', { type: 'Exact', value: 1 }],
  ])('%s is fine', (_, path) => {
    expect(judge(pathSyntax, routeWith({ matches: [{ path }] }))).toEqual([]);
  });

  test.each(['Exact', 'PathPrefix', undefined])('%s', (type) => {
    const route = routeWith({}, { matches: [{}, { path: { type, value: 'a//b' } }] });
    expect(judge(pathSyntax, route)).toEqual([
      ['spec.rules[1].matches[1].path.value', 'Invalid path "a//b": it does not start with "/". Use "/a/b".'],
      ['spec.rules[1].matches[1].path.value', 'Invalid path "a//b": it contains "//". Use "/a/b".'],
    ]);
    expect(consequences(pathSyntax, route)).toEqual([
      'Accepted UnsupportedValue match',
      'Accepted UnsupportedValue match',
    ]);
  });
});
