import { describe, expect, test } from '@jest/globals';
import {
  hostFromHeader,
  hostnameMatches,
  hostnameProblems,
  intersectHostnames,
  isIpAddress,
  preciseHostnameProblems,
  widerHostnames,
} from '../../../../src/core/text/hostname.ts';

const label63 = 'a'.repeat(63);

describe('hostnameProblems', () => {
  test('of a text with a million wrong labels are few', () => {
    expect(hostnameProblems('-.'.repeat(1_000_000))).toHaveLength(1);
  });

  test.each([
    'a',
    'example.com',
    '*.example.com',
    'xn--bcher-kva.example',
    '1.example',
    '1.2.3',
    'a-b.c',
    `${label63}.com`,
    '*.com',
  ])('%s is good', (text) => {
    expect(hostnameProblems(text)).toEqual([]);
  });

  test.each([
    ['', 'empty', 'it is empty. Use a DNS name, for example shop.example.com'],
    ['10.0.0.1', 'ip-address', 'it is an IP address. Use a DNS name, for example shop.example.com'],
    ['*.10.0.0.1', 'ip-address', 'an IP address follows "*.". Use a DNS name, for example *.example.com'],
    ['::1', 'ip-address', 'it is an IP address. Use a DNS name, for example shop.example.com'],
    ['Shop.example', 'upper-case', 'label "Shop" contains upper-case letters. Use "shop"'],
    ['a.example.', 'trailing-dot', 'it ends with a dot. Use "a.example"'],
    ['a..example', 'empty-label', 'it starts with a dot, or contains two dots in a row. Remove the extra dot'],
    ['.example', 'empty-label', 'it starts with a dot, or contains two dots in a row. Remove the extra dot'],
    [
      'a.*.example',
      'wildcard',
      'it contains a wildcard. Use "*" only as the complete first label, for example *.example.com',
    ],
    [
      'a*.example',
      'wildcard',
      'it contains a wildcard. Use "*" only as the complete first label, for example *.example.com',
    ],
    ['*', 'wildcard', 'it contains a wildcard. Use "*" only as the complete first label, for example *.example.com'],
    [
      '*.*.example',
      'wildcard',
      'it contains a wildcard. Use "*" only as the complete first label, for example *.example.com',
    ],
    [
      'a_b.example',
      'character',
      'label "a_b" contains characters other than a-z, 0-9 and "-". Use the xn-- form of international names',
    ],
    [
      'bücher.example',
      'character',
      'label "bücher" contains characters other than a-z, 0-9 and "-". Use the xn-- form of international names',
    ],
    [
      'a.example:80',
      'character',
      'label "example:80" contains characters other than a-z, 0-9 and "-". Use the xn-- form of international names',
    ],
    ['-a.example', 'hyphen', 'label "-a" starts or ends with "-". Use a letter or digit at both ends'],
    ['a-.example', 'hyphen', 'label "a-" starts or ends with "-". Use a letter or digit at both ends'],
    [
      `${label63}b.com`,
      'label-too-long',
      `label "${'a'.repeat(23)}…" has 64 characters. Use at most 63 characters between two dots`,
    ],
    [
      `*.${label63}b.com`,
      'label-too-long',
      `label "${'a'.repeat(23)}…" has 64 characters. Use at most 63 characters between two dots`,
    ],
    [`${'a.'.repeat(126)}ab`, 'too-long', 'it has 254 characters, and at most 253 are allowed. Use a shorter name'],
  ])('%j', (text, kind, message) => {
    expect(hostnameProblems(text)).toEqual([{ kind, message }]);
  });

  test('tells several problems at once', () => {
    expect(hostnameProblems('A.b_c.d.').map(({ kind }) => kind)).toEqual(['trailing-dot', 'upper-case', 'character']);
  });

  test('a precise hostname has no wildcard', () => {
    expect(preciseHostnameProblems('*.example.com').map(({ kind }) => kind)).toEqual(['wildcard']);
    expect(preciseHostnameProblems('example.com')).toEqual([]);
  });
});

test.each([
  ['1.2.3.4', true],
  ['999.2.3.4', true],
  ['1.2.3', false],
  ['1.2.3.4.5', false],
  ['::', true],
  ['2001:db8::1', true],
  ['[::1]', true],
  ['fe80::1%eth0', true],
  ['::ffff:1.2.3.4', true],
  ['a:80', false],
  ['abc', false],
  ['', false],
])('isIpAddress(%j) is %s', (text, expected) => {
  expect(isIpAddress(text)).toBe(expected);
});

test.each([
  ['', 'a.example', true],
  ['', '', true],
  ['a.example', 'a.example', true],
  ['a.example', 'b.example', false],
  ['*.example.com', 'test.example.com', true],
  ['*.example.com', 'foo.test.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', '.example.com', false],
  ['*.example.com', 'testexample.com', false],
  ['*.example.com', '', false],
])('hostnameMatches(%j, %j) is %s', (pattern, host, expected) => {
  expect(hostnameMatches(pattern, host)).toBe(expected);
});

test.each([
  ['', '', ''],
  ['', 'a.example', 'a.example'],
  ['a.example', '', 'a.example'],
  ['test.example.com', '*.example.com', 'test.example.com'],
  ['*.example.com', 'test.example.com', 'test.example.com'],
  ['*.example.com', 'foo.test.example.com', 'foo.test.example.com'],
  ['*.example.com', '*.example.com', '*.example.com'],
  ['*.com', '*.example.com', '*.example.com'],
  ['*.example.com', '*.com', '*.example.com'],
  ['*.example.com', 'example.com', undefined],
  ['*.example.com', 'test.example.net', undefined],
  ['a.example', 'b.example', undefined],
  ['*.a.example', '*.b.example', undefined],
])('intersectHostnames(%j, %j) is %j', (listener, route, expected) => {
  expect(intersectHostnames(listener, route)).toBe(expected);
});

test.each([
  ['example.com', 'example.com'],
  ['EXAMPLE.com:8080', 'example.com'],
  ['example.com.', 'example.com'],
  ['example.com.:80', 'example.com'],
  ['example.com:', 'example.com'],
  ['a_b', 'a_b'],
  ['10.0.0.1:80', '10.0.0.1'],
  ['[::1]:8080', '::1'],
  ['[2001:DB8::1]', '2001:db8::1'],
  ['', ''],
  ['::1', undefined],
  ['a b', undefined],
  ['a:b', undefined],
  ['a:65536', undefined],
  ['a:123456', undefined],
  ['a,b:80:80', undefined],
  ['user@host', undefined],
  ['a/b', undefined],
  ['a\n', undefined],
  ['[::1', undefined],
  ['.', undefined],
  ['a..', undefined],
  ['.a', undefined],
  ['a..b', undefined],
  [':80', undefined],
])('hostFromHeader(%j) is %j', (field, expected) => {
  expect(hostFromHeader(field)).toBe(expected);
});

describe('widerHostnames', () => {
  test.each<[string, readonly string[]]>([
    ['a.example.com', ['*.example.com', '*.com', '']],
    ['*.example.com', ['*.com', '']],
    ['com', ['']],
    ['', []],
  ])('%j', (hostname, wider) => {
    expect(widerHostnames(hostname)).toEqual(wider);
  });

  test('those of a text of a million labels are few', () => {
    const wider = widerHostnames('a.'.repeat(1_000_000));
    expect(wider.length).toBeLessThan(130);
    expect(wider.slice(-3)).toEqual(['*.a.', '*.', '']);
  });
});
