import { describe, expect, test } from '@jest/globals';
import { compileMatches } from '../../../../../src/core/graph/matches/compile-matches.ts';

function pathOf(type: string, value: string): string | undefined {
  return compileMatches([{ path: { type, value } }], () => false)[0]?.path.value;
}

describe('matches as the data plane takes them', () => {
  test.each([
    ['an encoded unreserved character is what it stands for', '/%61/b%2dc', '/a/b-c'],
    ['other encodings are in upper case', '/%e4', '/%E4'],
    ['characters that a request cannot hold are encoded', '/{a}', '/%7Ba%7D'],
    ['dot segments stay, so that they match nothing instead of another path', '/a/%2e%2e/b', '/a/../b'],
    ['empty segments stay', '/a//b', '/a//b'],
  ])('%s', (_, written, expected) => {
    expect(pathOf('Exact', written)).toBe(expected);
    expect(pathOf('PathPrefix', written)).toBe(expected);
  });

  test('a regular expression is taken as it is', () => {
    expect(pathOf('RegularExpression', '/%61{2}')).toBe('/%61{2}');
  });

  test('without matches every path matches', () => {
    expect(compileMatches(undefined, () => false)).toEqual([
      { index: 0, path: { type: 'PathPrefix', value: '/' }, headers: [], query: [] },
    ]);
  });

  test('invalid matches are left out, the others keep their position', () => {
    const matches = [{ path: { value: '/a' } }, { path: { value: '/b' } }];
    expect(compileMatches(matches, (index) => index === 0).map(({ index, path }) => [index, path.value])).toEqual([
      [1, '/b'],
    ]);
  });
});
