import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  decodeCheckResponse,
  encodeCheckRequest,
} from '../../../../../src/proxy/handling/authorization/check-messages.ts';
import type { CheckedRequest } from '../../../../../src/proxy/handling/authorization/check-messages.ts';
import { MalformedMessage } from '../../../../../src/proxy/handling/authorization/protobuf.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const text = (value: string): string => Buffer.from(value).toString('hex');

/** By hand: the key of a length-delimited field (one byte), its length (one byte), and its contents. */
const part = (key: string, contents: string): string =>
  `${key}${(contents.length / 2).toString(16).padStart(2, '0')}${contents}`;
const header = (name: string, value: string): string => part('0a', part('0a', text(name)) + part('12', text(value)));

const request: CheckedRequest = {
  method: 'GET',
  path: '/a?b',
  host: 'h',
  scheme: 'http',
  protocol: 'HTTP/1.1',
  size: 0,
  headers: ['X-A', '1'],
  body: Buffer.alloc(0),
  source: '::1',
};

describe('a CheckRequest', () => {
  test('has the numbers and types of the fields of attribute_context.proto', () => {
    const entry = (name: string, value: string): string => part('1a', part('0a', text(name)) + part('12', text(value)));
    const http = [
      part('12', text('GET')),
      entry(':authority', 'h'),
      entry(':method', 'GET'),
      entry(':path', '/a?b'),
      entry(':scheme', 'http'),
      entry('x-a', '1'),
      part('22', text('/a?b')),
      part('2a', text('h')),
      part('32', text('http')),
      '4800',
      part('52', text('HTTP/1.1')),
    ].join('');
    const address = part('0a', part('0a', part('0a', part('12', text('::1')))));
    expect(encodeCheckRequest(request).toString('hex')).toBe(part('0a', address + part('22', part('12', http))));
  });

  test('says of a body of unknown length that its size is -1, and sends what is no UTF-8 as bytes', () => {
    expect(encodeCheckRequest({ ...request, size: undefined }).includes(hex('48 ffffffffffffffffff01'))).toBe(true);
    expect(encodeCheckRequest({ ...request, size: 300 }).includes(hex('48 ac02'))).toBe(true);
    expect(encodeCheckRequest({ ...request, body: Buffer.from('ü') }).includes(hex('5a 02 c3bc'))).toBe(true);
    expect(encodeCheckRequest({ ...request, body: hex('ff00') }).includes(hex('62 02 ff00'))).toBe(true);
  });

  test('joins repeated headers, and makes their values UTF-8', () => {
    const bytes = encodeCheckRequest({
      ...request,
      headers: ['X-A', '1', 'x-a', '2', 'Cookie', 'a=b', 'cookie', 'c=d', 'x-u', '\xc3\xbc', 'x-b', '\xff'],
    });
    for (const value of ['1,2', 'a=b; c=d', 'ü', '\ufffd']) expect(bytes.includes(Buffer.from(value))).toBe(true);
  });
});

describe('a CheckResponse', () => {
  test.each<[string, string, object]>([
    ['OK alone', '0a00', { type: 'ok', headers: [], removed: [], responseHeaders: [] }],
    ['OK in so many words', '0a020800', { type: 'ok', headers: [], removed: [], responseHeaders: [] }],
    [
      'OK with headers',
      `0a00${part('1a', part('12', header('x-a', '1')) + part('12', `${header('x-b', '2')}12020801`) + part('2a', text('x-c')) + part('32', header('x-d', '4')))}`,
      {
        type: 'ok',
        headers: [
          { name: 'x-a', value: '1', appends: false },
          { name: 'x-b', value: '2', appends: true },
        ],
        removed: ['x-c'],
        responseHeaders: [{ name: 'x-d', value: '4', appends: true }],
      },
    ],
    [
      'a header of the response that replaces others',
      `0a00${part('1a', part('32', `${header('x-d', '4')}1802`))}`,
      { type: 'ok', headers: [], removed: [], responseHeaders: [{ name: 'x-d', value: '4', appends: false }] },
    ],
    [
      'a header as bytes',
      `0a00${part('1a', part('12', part('0a', `${part('0a', text('x-a'))}1a01fc`)))}`,
      { type: 'ok', headers: [{ name: 'x-a', value: '\xfc', appends: false }], removed: [], responseHeaders: [] },
    ],
    ['a denial alone', '0a020807', { type: 'denied', status: 0, headers: [], body: Buffer.alloc(0) }],
    [
      'a denial with a negative code',
      '0a0b08ffffffffffffffffff01',
      { type: 'denied', status: 0, headers: [], body: Buffer.alloc(0) },
    ],
    [
      'a denial with everything',
      `0a020810${part('12', `0a03089103${part('12', header('a', 'b'))}${part('1a', text('no'))}`)}`,
      { type: 'denied', status: 401, headers: [{ name: 'a', value: 'b', appends: false }], body: Buffer.from('no') },
    ],
    [
      'unknown fields, also in details of the status',
      '0a0a 0800 1203616263 1a01ff 22020a00 7d01020304 790102030405060708 7801',
      { type: 'ok', headers: [], removed: [], responseHeaders: [] },
    ],
  ])('%s', (_name, bytes, response) => {
    expect(decodeCheckResponse(hex(bytes))).toEqual(response);
  });

  test.each([
    ['nothing: no status', ''],
    ['only headers', '1a00'],
    ['a cut field', '0a05'],
    ['a cut length', '0a'],
    ['a cut number', '0a020880'],
    ['a number of more than 64 bits', '0a0c0880808080808080808080800100'],
    ['a group', '0a000b'],
    ['a field 0', '0a000200'],
    ['a status that is a number', '0801'],
    ['a code that is bytes', '0a020a00'],
    ['two statuses', '0a000a00'],
    ['two codes', '0a0408070800'],
    ['OK and a denial', '0a001200'],
    ['OK and an error', '0a002a00'],
    ['two answers', '0a001a001a00'],
    ['a change of the query', '0a001a023a00'],
    ['a removal from the query', '0a001a034201 61'],
    ['a header without contents', '0a001a021200'],
    ['an action that depends on what stands', `0a00${part('1a', part('32', `${header('x-d', '4')}1801`))}`],
  ])('that is refused: %s', (_name, bytes) => {
    expect(() => decodeCheckResponse(hex(bytes))).toThrow(MalformedMessage);
  });

  test('throws nothing else, whatever the bytes are', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          '0a00',
          '0a020800',
          '1200',
          '1a00',
          part('12', header('a', 'b')),
          '0a',
          '08',
          '80',
          'ff',
          '3a00',
        ),
        fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(pieces, (all) => {
        try {
          decodeCheckResponse(hex(all.join('')));
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessage);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
