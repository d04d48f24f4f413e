import { describe, expect, test } from '@jest/globals';
import { hasPathPrefix, normalizePath, pathProblems, replacePathPrefix } from '../../../../src/core/text/path.ts';

describe('pathProblems', () => {
  test.each(['/', '/a', '/a/', '/a/b.c', "/-._~!$&'()*+,;=:@", '/%20', '/...', '/.a/..b', '/a%3F'])(
    '%s is good',
    (value) => {
      expect(pathProblems(value)).toEqual([]);
    },
  );

  test.each([
    ['', 'it is empty. Use "/" to match every path'],
    ['a', 'it does not start with "/". Use "/a"'],
    ['/a//b', 'it contains "//". Use "/a/b"'],
    ['//', 'it contains "//". Use "/"'],
    ['/a/./b', 'it contains "/./". Remove the "." segment'],
    ['/a/../b', 'it contains "/../". Use the path that it resolves to'],
    ['/a/.', 'it ends with "/.". Remove the final "."'],
    ['/a/..', 'it ends with "/..". Use the path that it resolves to'],
    ['/a%2fb', 'it contains an encoded slash (%2F), which cannot be matched. Use "/" between segments'],
    ['/a%2Fb', 'it contains an encoded slash (%2F), which cannot be matched. Use "/" between segments'],
    ['/a#b', 'it contains "#", and clients do not send fragments. Remove the fragment'],
    ['/a?b=c', 'it contains "?", which starts the query. Use queryParams to match query parameters'],
    ['/a b', 'it contains the character " ". Percent-encode other characters, for example %20 for a space'],
    ['/ü', 'it contains the character "ü". Percent-encode other characters, for example %20 for a space'],
    ['/a\n', 'it contains the character "\\n". Percent-encode other characters, for example %20 for a space'],
    [
      '/50%',
      'it contains a "%" without two hexadecimal digits after it. Percent-encode other characters, for example %20 for a space',
    ],
  ])('%j', (value, problem) => {
    expect(pathProblems(value)).toEqual([problem]);
  });

  test('tells several problems at once', () => {
    expect(pathProblems('a//b/..')).toHaveLength(3);
  });
});

test.each([
  ['/foo', '/foo', true],
  ['/foo/', '/foo', true],
  ['/foo/bar', '/foo', true],
  ['/foo', '/foo/', true],
  ['/foo/', '/foo/', true],
  ['/foo/bar', '/foo/', true],
  ['/foobar', '/foo', false],
  ['/Foo', '/foo', false],
  ['/', '/foo', false],
  ['/', '/', true],
  ['/foo', '/', true],
  ['//foo', '/foo', false],
])('hasPathPrefix(%s, %s) is %s', (path, prefix, expected) => {
  expect(hasPathPrefix(path, prefix)).toBe(expected);
});

describe('replacePathPrefix', () => {
  test.each([
    ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
    ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
    ['/foo', '/foo', '/xyz', '/xyz'],
    ['/foo/', '/foo', '/xyz', '/xyz/'],
    ['/foo/bar', '/foo', '', '/bar'],
    ['/foo/', '/foo', '', '/'],
    ['/foo', '/foo', '', '/'],
    ['/foo/', '/foo', '/', '/'],
    ['/foo', '/foo', '/', '/'],
    ['/', '/', '/xyz', '/xyz/'],
    ['/a', '/', '/xyz', '/xyz/a'],
    ['/a', '/', '', '/a'],
    ['/foo/bar', '/foo', 'xyz', '/xyz/bar'],
  ])('%s, prefix %s, by %j is %s', (path, prefix, replacement, expected) => {
    expect(replacePathPrefix(path, prefix, replacement)).toBe(expected);
  });
});

describe('normalizePath', () => {
  test.each([
    ['/', '/'],
    ['/a/b/', '/a/b/'],
    ['/%61%2d%7E', '/a-~'],
    ['/a%2fb', '/a%2Fb'],
    ['/%c3%bc', '/%C3%BC'],
    ['/%2561', '/%2561'],
    ['/%00', '/%00'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/%2e%2E/b', '/b'],
    ['/a/.', '/a/'],
    ['/a/..', '/'],
    ['/a/b/..', '/a/'],
    ['/../../etc', '/etc'],
    ['/a//b', '/a//b'],
    ['/a//../b', '/a/b'],
    ['/.well-known', '/.well-known'],
    ['/...', '/...'],
    ['/a|b"\\', '/a%7Cb%22%5C'],
    ['/..\\a', '/..%5Ca'],
  ])('%s is %s', (path, expected) => {
    expect(normalizePath(path)).toEqual({ ok: true, path: expected });
  });

  test.each([
    ['', 'the path does not start with "/"'],
    ['*', 'the path does not start with "/"'],
    ['/a b', 'the path contains a character that must be percent-encoded'],
    ['/a\r', 'the path contains a character that must be percent-encoded'],
    ['/ü', 'the path contains a character that must be percent-encoded'],
    ['/a#b', 'the path contains a character that must be percent-encoded'],
    ['/a?b', 'the path contains a character that must be percent-encoded'],
    ['/%', 'the path contains a "%" without two hexadecimal digits after it'],
    ['/%4', 'the path contains a "%" without two hexadecimal digits after it'],
    ['/%zz', 'the path contains a "%" without two hexadecimal digits after it'],
  ])('%j has none', (path, problem) => {
    expect(normalizePath(path)).toEqual({ ok: false, problem });
  });
});
