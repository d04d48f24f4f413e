import { describe, expect, test } from '@jest/globals';
import { RequestReader } from '../../../../src/proxy/http1/request-reader.ts';
import type { BodyFraming } from '../../../../src/proxy/http1/request-reader.ts';
import type { RawRequest } from '../../../../src/proxy/messages/request-head.ts';

interface Read {
  readonly events: string[];
  readonly reader: RequestReader;
  /** Reads pieces, and returns the bytes after the first request or the first head that ends in them. */
  readonly read: (...pieces: readonly string[]) => string;
}

/** A reader of requests whose bodies are framed as told. */
function startReader(framing: BodyFraming = 0, headerBytes = 200): Read {
  const events: string[] = [];
  const reader = new RequestReader(
    {
      onHead: ({ method, url, httpVersion, rawHeaders }) => {
        events.push(`${method} ${url} ${httpVersion} ${rawHeaders.join('|')}`);
        return framing;
      },
      onData: (data) => events.push(`data ${data.toString('latin1')}`),
      onEnd: (trailers) => events.push(`end ${trailers.join('|')}`),
      onMalformed: (reason) => events.push(reason),
    },
    headerBytes,
  );
  const read = (...pieces: readonly string[]): string => {
    let rest = '';
    for (const piece of pieces) rest = reader.read(Buffer.from(rest + piece, 'latin1')).toString('latin1');
    return rest;
  };
  return { events, reader, read };
}

describe('a head', () => {
  test('is read from the bytes up to its end', () => {
    const { events, read } = startReader();
    expect(read('GET /a?b HTTP/1.1\r\nHost: a\r\nX-B:\t b \xe9\t\r\nX-C:\r\n\r\nGET')).toBe('GET');
    expect(events).toEqual(['GET /a?b 1.1 Host|a|X-B|b \xe9|X-C|']);
  });

  test('may come in any pieces, behind empty lines', () => {
    const { events, read } = startReader();
    expect(read(...'\r\n\r\nGET / HTTP/1.0\r\nHost: a\r\n\r\n'.split(''))).toBe('');
    expect(events).toEqual(['GET / 1.0 Host|a']);
  });

  test.each([
    ['the same fields', 'Host: a\r\nX-A: b', 'Host: a\r\nX-A: b', true],
    ['other fields', 'Host: a\r\nX-A: b', 'Host: a\r\nX-A: c', false],
    ['more fields', 'Host: a', 'Host: a\r\nX-A: b', false],
    ['the same 33 fields', `Host: a${'\r\nX: b'.repeat(32)}`, `Host: a${'\r\nX: b'.repeat(32)}`, false],
    ['the same 32 fields', `Host: a${'\r\nX: b'.repeat(31)}`, `Host: a${'\r\nX: b'.repeat(31)}`, true],
    ['the same long fields', `Host: a\r\nX-A: ${'b'.repeat(2_048)}`, `Host: a\r\nX-A: ${'b'.repeat(2_048)}`, false],
  ])('with %s as the previous one: the array of fields is the same one only then', (_, first, second, isSame) => {
    const heads: RawRequest[] = [];
    const ignore = (): void => undefined;
    const onHead = (head: RawRequest): number => {
      heads.push(head);
      return 0;
    };
    const reader = new RequestReader({ onHead, onData: ignore, onEnd: ignore, onMalformed: ignore }, 10_000);
    const read = (fields: string): Buffer => reader.read(Buffer.from(`GET / HTTP/1.1\r\n${fields}\r\n\r\n`));
    read(first);
    read(second);
    expect(heads[0]?.rawHeaders === heads[1]?.rawHeaders).toBe(isSame);
    reader.forget();
    read(second);
    expect(heads[2]?.rawHeaders).toEqual(heads[1]?.rawHeaders);
    expect(heads[2]?.rawHeaders).not.toBe(heads[1]?.rawHeaders);
  });

  test('leaves nothing of the memory that was read, if no bytes follow', () => {
    const { reader } = startReader();
    reader.read(Buffer.from('GET / HTTP/1.1\r\n'));
    expect(reader.read(Buffer.from('Host: a\r\n\r\n')).buffer.byteLength).toBe(0);
  });

  test('keeps no empty lines, however many there are', () => {
    const { events, reader, read } = startReader();
    read('\r', ...Array.from({ length: 1_000 }, () => '\n\r'));
    expect(reader['partial']?.length).toBe(1);
    read('\nGET / HTTP/1.0\r\nHost: a\r\n\r\n');
    expect(events).toEqual(['GET / 1.0 Host|a']);
  });

  test('keeps no more than the incomplete part of a read', () => {
    const { reader } = startReader(0, 200_000);
    const large = Buffer.allocUnsafeSlow(64 * 1024).fill('\r\n');
    large.write('G', large.length - 1);
    reader.read(Buffer.concat([large.subarray(0, -2), Buffer.from('G')]));
    expect(reader['partial']?.buffer.byteLength).toBe(1);
    expect(reader.heldBytes).toBe(1);
  });

  test('keeps the byte A0 at the end of a value', () => {
    const { events, read } = startReader();
    read('GET / HTTP/1.1\r\nA: b\xa0 \r\n\r\n');
    expect(events).toEqual(['GET / 1.1 A|b\xa0']);
  });

  test.each([
    ['a bare LF', 'GET / HTTP/1.1\n'],
    ['a bare CR', 'GET / HTTP/1.1\r\nA: b\rc'],
    ['a NUL', 'GET / HTTP/1.1\r\nA: \0'],
    ['another protocol', 'hello'],
    ['a lower-case method', 'get / HTTP/1.1\r\n\r\n'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\n\r\n'],
    ['two spaces', 'GET  / HTTP/1.1\r\n\r\n'],
    ['another version', 'GET / HTTP/1.2\r\n\r\n'],
    ['a folded line', 'GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n'],
    ['a space before a colon', 'GET / HTTP/1.1\r\nA : b\r\n\r\n'],
    ['a tab behind a coding', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\t\r\n\r\n'],
    ['a byte beyond ASCII in the target', 'GET /\xe9 HTTP/1.1\r\n\r\n'],
  ])('with %s is malformed, in one piece and in many', (_name, bytes) => {
    for (const pieces of [[bytes], bytes.split('')]) {
      const { events, read } = startReader();
      read(...pieces, 'GET / HTTP/1.1\r\n\r\n');
      expect(events).toEqual(['bad-request']);
    }
  });

  test('is limited, whether it ends or not', () => {
    const fields = `A: ${'b'.repeat(200)}`;
    for (const bytes of [`GET / HTTP/1.1\r\n${fields}\r\n\r\n`, `GET / HTTP/1.1\r\n${fields}`]) {
      const { events, read } = startReader();
      read(bytes);
      expect(events).toEqual(['headers-too-large']);
    }
  });

  test('whose body has no certain end is the last one', () => {
    const { events, read } = startReader('unknown');
    expect(read('GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n')).toBe('');
    expect(events).toHaveLength(1);
  });
});

describe('a body', () => {
  test('with a length ends with its last byte', () => {
    const { events, reader, read } = startReader(5);
    expect(read('PUT / HTTP/1.1\r\n\r\n', 'abc', 'deGET')).toBe('GET');
    expect(events.slice(1)).toEqual(['data abc', 'data de', 'end ']);
    expect(reader.isInRequest).toBe(false);
  });

  test('in chunks ends behind its trailers', () => {
    const { events, read } = startReader('chunked');
    expect(read('PUT / HTTP/1.1\r\n\r\n', '3\r\nabc\r\n0\r\nX-A: b\r\n\r\nGET')).toBe('GET');
    expect(events.slice(1)).toEqual(['data abc', 'end X-A|b']);
  });

  test.each([
    ['bad-request', '3\nabc'],
    ['bad-request', '3\r\nabcd\r\n'],
    ['bad-framing', '0\r\nContent-Length: 1\r\n\r\n'],
    ['bad-framing', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['headers-too-large', `0\r\nX-A: ${'b'.repeat(200)}\r\n\r\n`],
  ])('is refused as %s: %j', (reason, bytes) => {
    const { events, read } = startReader('chunked');
    read('PUT / HTTP/1.1\r\n\r\n', bytes, '\r\n\r\n');
    expect(events.filter((event) => !event.startsWith('data')).slice(1)).toEqual([reason]);
  });

  test('is not read after a stop', () => {
    const { events, reader, read } = startReader(5);
    read('PUT / HTTP/1.1\r\n\r\n');
    reader.stop();
    expect(read('abcdef')).toBe('');
    expect(events).toHaveLength(1);
  });
});

describe('trailers', () => {
  const begin = 'POST / HTTP/1.1\r\nHost: a\r\n\r\n';

  test('count as bytes that wait', () => {
    const { reader, read } = startReader('chunked');
    read(begin, '1\r\nx\r\n0\r\nA: b\r\nC: d\r\n', 'E:');
    expect(reader.heldBytes).toBe(14);
  });

  test('are limited in number, because short lines take many times their bytes', () => {
    const { events, read } = startReader('chunked', 32_768);
    read(begin, '0\r\n', 'a:\r\n'.repeat(200));
    expect(events).toHaveLength(1);
    read('a:\r\n');
    expect(events.at(-1)).toBe('headers-too-large');
  });
});
