import { describe, expect, test } from '@jest/globals';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { readHttp1Head, RequestHead, type RawRequest } from '../../../../src/proxy/messages/request-head.ts';

interface Parts {
  readonly method?: string;
  readonly url?: string;
  readonly httpVersion?: string;
  readonly host?: string | undefined;
}

/** Reads a request with these fields, name and value in turn, after Host. */
function read(fields: readonly string[], { method = 'POST', url = '/', httpVersion = '1.1', host = 'a' }: Parts = {}) {
  const message: RawRequest = {
    method,
    url,
    httpVersion,
    rawHeaders: [...(host === '' ? [] : ['Host', host]), ...fields],
  };
  return readHttp1Head(message, defaultLimits);
}

/** The length of the body as read, or the reason of the refusal. */
function framingOf(fields: readonly string[], parts: Parts = {}): string | number | undefined {
  const head = read(fields, parts);
  return typeof head === 'string' ? head : head.contentLength;
}

describe('the framing of a request', () => {
  test.each<[string, readonly string[], string | number | undefined]>([
    ['neither field: no body', [], 0],
    ['a length', ['Content-Length', '12'], 12],
    ['chunks', ['Transfer-Encoding', 'Chunked'], undefined],
    ['chunks with spaces around', ['transfer-encoding', ' chunked '], undefined],
    ['a final coding that is not chunked', ['Transfer-Encoding', 'gzip'], 'bad-framing'],
    ['chunked before another coding', ['Transfer-Encoding', 'chunked, gzip'], 'bad-framing'],
    ['identity', ['Transfer-Encoding', 'identity'], 'bad-framing'],
    ['an empty coding', ['Transfer-Encoding', ''], 'bad-framing'],
    ['another coding before chunked', ['Transfer-Encoding', 'gzip, chunked'], 'transfer-coding-unsupported'],
    ['chunked twice', ['Transfer-Encoding', 'chunked, chunked'], 'transfer-coding-unsupported'],
    ['two Transfer-Encoding fields', ['Transfer-Encoding', 'gzip', 'Transfer-Encoding', 'chunked'], 'bad-framing'],
    ['length and chunks', ['Content-Length', '1', 'Transfer-Encoding', 'chunked'], 'bad-framing'],
    ['two lengths', ['Content-Length', '1', 'content-length', '1'], 'bad-framing'],
    ['a list of lengths', ['Content-Length', '1, 1'], 'bad-framing'],
    ['a negative length', ['Content-Length', '-1'], 'bad-framing'],
    ['a hexadecimal length', ['Content-Length', '0x10'], 'bad-framing'],
    ['a length with 15 digits', ['Content-Length', '9'.repeat(15)], 999_999_999_999_999],
    ['a length with 16 digits', ['Content-Length', '9'.repeat(16)], 'bad-framing'],
  ])('%s', (_, fields, expected) => {
    expect(framingOf(fields)).toBe(expected);
  });

  test('HTTP/1.0 has no chunks', () => {
    expect(framingOf(['Transfer-Encoding', 'chunked'], { httpVersion: '1.0' })).toBe('bad-framing');
  });
});

// Thousands of matches may read the same field.
test('a repeated field is joined once', () => {
  let reads = 0;
  const rawHeaders = new Proxy(['Host', 'a', ...Array.from({ length: 50 }, () => ['X-A', 'b']).flat()], {
    get: (fields, key) => {
      reads += 1;
      return Reflect.get(fields, key) as unknown;
    },
  });
  const head = readHttp1Head({ method: 'GET', url: '/', httpVersion: '1.1', rawHeaders }, defaultLimits) as RequestHead;
  const joined = Array.from({ length: 50 }, () => 'b').join(', ');
  expect(head.header('x-a')).toBe(joined);
  reads = 0;
  expect([head.header('x-a'), head.header('host'), head.header('x-b')]).toEqual([joined, 'a', undefined]);
  expect(reads).toBeLessThan(5);
});

test('thousands of lookups find the same values as the first ones', () => {
  const fields = ['X-A', '1', 'x-b', '2', 'X-a', '3', 'x-empty', ''];
  const head = read(fields, { url: '/?a=1&b=2&a=3&%63=%34&d' }) as RequestHead;
  const lookups = () => [
    ['x-a', 'x-b', 'x-empty', 'host', 'x-absent'].map((name) => head.header(name)),
    ['a', 'b', 'c', 'd', 'absent'].map((name) => head.query(name)),
  ];
  const expected = [
    ['1, 3', '2', '', 'a', undefined],
    ['1', '2', '4', '', undefined],
  ];
  for (let count = 0; count < 1_000; count += 1) expect(lookups()).toEqual(expected);
});

test('heads read in turns keep their values', () => {
  const heads = ['1', '2'].map((value) => read(['x-a', value, 'x-a', value], { url: `/?a=${value}` }) as RequestHead);
  for (let count = 0; count < 100; count += 1)
    expect(heads.map((head) => [head.header('x-a'), head.query('a')])).toEqual([
      ['1, 1', '1'],
      ['2, 2', '2'],
    ]);
});

// All requests in progress would keep those of their queries, which take ten times the memory that a request counts for.
test('a head keeps no parameters', () => {
  const head = read([], { url: `/?${'a=b&'.repeat(1_000)}` }) as RequestHead;
  const before = Object.values(head).filter((value) => typeof value === 'object').length;
  expect(head.query('a')).toBe('b');
  expect(Object.values(head).filter((value) => typeof value === 'object')).toHaveLength(before);
});

test('the memory of a head grows with its fields and its target', () => {
  const memoryOf = (...request: Parameters<typeof read>): number => (read(...request) as RequestHead).memory;
  const least = memoryOf([], { url: '/' });
  expect(memoryOf(['x-a', 'b'.repeat(1_000)], { url: '/' }) - least).toBeGreaterThan(1_000);
  // Short fields take more than their text.
  const short = Array.from({ length: 100 }, () => ['a', 'b']).flat();
  expect(memoryOf(short, { url: '/' }) - least).toBeGreaterThan(5_000);
  expect(memoryOf([], { url: `/${'c'.repeat(1_000)}?${'d'.repeat(1_000)}` }) - least).toBeGreaterThan(4_000);
});

describe('the target of a request', () => {
  test.each<[string, Parts, string | object]>([
    ['origin form', { url: '/a?b=c' }, { host: 'a', authority: 'a', path: '/a', search: '?b=c' }],
    ['absolute form', { url: 'http://B:81/c', host: 'a' }, { host: 'b', authority: 'B:81', path: '/c' }],
    ['absolute form without a path', { url: 'http://b?c', host: 'a' }, { path: '/', search: '?c' }],
    ['absolute form without a host', { url: 'http:///c' }, 'bad-host'],
    ['another scheme', { url: 'ftp://b/c' }, 'bad-target'],
    ['a fragment', { url: '/a#b' }, 'bad-target'],
    ['the asterisk', { url: '*', method: 'OPTIONS' }, { path: '*', search: '' }],
    ['a path with an invalid escape', { url: '/%zz' }, 'bad-target'],
    ['a target that is too long', { url: `/${'a'.repeat(defaultLimits.targetBytes)}` }, 'target-too-long'],
  ])('%s', (_, parts, expected) => {
    const head = read([], parts);
    if (typeof expected === 'string') expect(head).toBe(expected);
    else expect(head).toMatchObject(expected);
  });

  test.each<[string, readonly string[], Parts, string]>([
    ['none', [], { host: '' }, 'bad-host'],
    ['two', ['host', 'b'], {}, 'bad-host'],
    ['an invalid one', [], { host: 'a b' }, 'bad-host'],
  ])('Host: %s', (_, fields, parts, expected) => {
    expect(read(fields, parts)).toBe(expected);
  });

  test('HTTP/1.0 needs no Host', () => {
    expect(read([], { host: '', httpVersion: '1.0' })).toBeInstanceOf(RequestHead);
  });

  test('the bytes of names and values are limited', () => {
    const fields = (bytes: number) => ['x', 'a'.repeat(bytes - 'Hosta'.length - 'x'.length)];
    expect(read(fields(defaultLimits.headerBytes))).toBeInstanceOf(RequestHead);
    expect(read(fields(defaultLimits.headerBytes + 1))).toBe('headers-too-large');
  });

  test('the number of fields is limited', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, index) => [`x-${index}`, '1']).flat();
    expect(read(fields(defaultLimits.headerCount - 1))).toBeInstanceOf(RequestHead);
    expect(read(fields(defaultLimits.headerCount))).toBe('headers-too-large');
  });
});

test('requests with the same fields share what was read, and keep a limited number of values', () => {
  const message: RawRequest = {
    method: 'GET',
    url: '/',
    httpVersion: '1.1',
    rawHeaders: ['Host', 'a', 'x-one', '1', 'x-one', '2', 'via', '1.1 sallyport'],
  };
  const headAfter = (previous?: RequestHead): RequestHead => {
    const head = readHttp1Head(message, defaultLimits, previous?.section);
    if (typeof head === 'string') throw new Error(head);
    return head;
  };
  const first = headAfter();
  expect(first.section.values).toBeUndefined();
  const second = headAfter(first);
  const third = headAfter(second);
  expect(third.section).toBe(first.section);
  for (const head of [second, third]) {
    expect([head.header('x-one'), head.header('x-two'), head.hops, head.asksForUpgrade]).toEqual([
      '1, 2',
      undefined,
      1,
      false,
    ]);
  }
  for (let count = 0; count < 1_000; count += 1) expect(third.header(`x-${count}`)).toBeUndefined();
  expect(third.section.values?.size).toBe(32);
  const edited = third.with({ dropped: new Set(['x-one', 'via']), added: ['x-two', '3'] });
  expect([edited.header('x-one'), edited.header('x-two'), edited.hops]).toEqual([undefined, '3', 1]);
  expect(third.header('x-one')).toBe('1, 2');
});
