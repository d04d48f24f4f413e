import { describe, expect, test } from '@jest/globals';
import { hasPathPrefix, normalizePath, pathProblems, replacePathPrefix } from '../../../../src/core/text/path.ts';

describe('pathProblems', () => {
  test.each(['/', '/a', '/a/', '/a/b.c', "/-._~!$&'()*+,;=:@", '/%20', '/...', '/.a/..b', '/a%3F'])('%s is good', (value) => {
    expect(pathProblems(value)).toEqual([]);
  });

  test.each([
    ['', 'it is empty; write "/" for every path'],
    ['a', 'it does not start with "/"; write "/a"'],
    ['/a//b', 'it holds "//"; write "/a/b"'],
    ['//', 'it holds "//"; write "/"'],
    ['/a/./b', 'it holds "/./"; remove the "." segment'],
    ['/a/../b', 'it holds "/../"; write the path that it leads to'],
    ['/a/.', 'it ends with "/."; end it with "/" or the last name'],
    ['/a/..', 'it ends with "/.."; write the path that it leads to'],
    ['/a%2fb', 'it holds an encoded slash (%2F); write "/" between segments, an encoded one cannot be matched'],
    ['/a%2Fb', 'it holds an encoded slash (%2F); write "/" between segments, an encoded one cannot be matched'],
    ['/a#b', 'it holds "#"; fragments never reach a server, leave it out'],
    ['/a?b=c', 'it holds "?"; match query parameters under queryParams instead'],
    ['/a b', 'it holds the character " "; write other characters percent-encoded, e.g. %20 for a blank'],
    ['/ü', 'it holds the character "ü"; write other characters percent-encoded, e.g. %20 for a blank'],
    ['/a\n', 'it holds the character "\\n"; write other characters percent-encoded, e.g. %20 for a blank'],
    ['/50%', 'it holds a "%" without two hexadecimal digits after it; write other characters percent-encoded, e.g. %20 for a blank'],
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
    ['/a b', 'the path holds a character that must be percent-encoded'],
    ['/a\r', 'the path holds a character that must be percent-encoded'],
    ['/ü', 'the path holds a character that must be percent-encoded'],
    ['/a#b', 'the path holds a character that must be percent-encoded'],
    ['/a?b', 'the path holds a character that must be percent-encoded'],
    ['/%', 'the path holds a "%" without two hexadecimal digits after it'],
    ['/%4', 'the path holds a "%" without two hexadecimal digits after it'],
    ['/%zz', 'the path holds a "%" without two hexadecimal digits after it'],
  ])('%j has none', (path, problem) => {
    expect(normalizePath(path)).toEqual({ ok: false, problem });
  });
});
