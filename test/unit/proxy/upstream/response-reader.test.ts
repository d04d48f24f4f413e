import { describe, expect, test } from '@jest/globals';
import { ResponseReader } from '../../../../src/proxy/upstream/response-reader.ts';
import type { ResponseHead } from '../../../../src/proxy/upstream/response-head.ts';
import type { PendingRequest } from '../../../../src/proxy/upstream/response-reader.ts';

const get: PendingRequest = { method: 'GET' };
const ok = 'HTTP/1.1 200 OK\r\n';
const headBytes = 128;

/** What a reader tells of these pieces, in words; `null` stands for the end of the connection. */
function tell(pending: PendingRequest, ...pieces: readonly (string | null)[]): readonly string[] {
  const told: string[] = [];
  const reader = new ResponseReader(
    {
      onInformation: (status, fields) => told.push(['information', status, ...fields].join(' ')),
      onHead: ({ status, fields }) => told.push(['head', status, ...fields].join(' ')),
      onData: (data) => told.push(`data ${data.toString('latin1')}`),
      onEnd: (trailers, { persists }, rest) =>
        told.push(
          [persists ? 'end' : 'last', ...trailers, ...(rest.length > 0 ? [`rest ${rest.toString()}`] : [])].join(' '),
        ),
      onSwitch: ({ fields }, rest) => told.push(['switch', ...fields, rest.toString()].join(' ')),
      onMalformed: () => told.push('malformed'),
    },
    headBytes,
  );
  reader.expect(pending);
  for (const piece of pieces) {
    if (piece === null) reader.end();
    else reader.read(Buffer.from(piece, 'latin1'));
  }
  return told;
}

test.each([
  ['32 fields', 32, true],
  ['33 fields', 33, false],
])('the head of equal responses with %s is read once: %s', (_, count, isOnce) => {
  const heads: ResponseHead[] = [];
  const ignore = (): void => undefined;
  const events = { onInformation: ignore, onData: ignore, onEnd: ignore, onSwitch: ignore, onMalformed: ignore };
  const reader = new ResponseReader({ ...events, onHead: (head) => void heads.push(head) }, 10_000);
  const read = (): void => {
    reader.expect(get);
    reader.read(Buffer.from(`${ok}Content-Length: 0\r\n${'X-A: b\r\n'.repeat(count - 1)}\r\n`));
  };
  read();
  read();
  expect(heads[0] === heads[1]).toBe(isOnce);
  reader.forget();
  read();
  expect(heads[2]).not.toBe(heads[1]);
  expect(heads[2]?.fields).toEqual(heads[1]?.fields);
});

test('bytes that follow a switch of protocols are not read as a response', () => {
  const upgrading = { method: 'GET', upgrade: 'websocket' };
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n';
  expect(tell(upgrading, switched, `${ok}Content-Length: 0\r\n\r\n`, null)).toEqual(['switch Upgrade websocket ']);
});

describe('an answer ends where its framing says', () => {
  test.each<[string, PendingRequest, string, readonly string[]]>([
    ['a length', get, `${ok}Content-Length: 2\r\n\r\nok`, ['head 200 Content-Length 2', 'data ok', 'end']],
    ['no body', get, `${ok}Content-Length: 0\r\n\r\n`, ['head 200 Content-Length 0', 'end']],
    [
      'chunks',
      get,
      `${ok}Transfer-Encoding: Chunked\r\n\r\n2;a="b"\r\nok\r\n0A\r\n0123456789\r\n0\r\n\r\n`,
      ['head 200 Transfer-Encoding Chunked', 'data ok0123456789', 'end'],
    ],
    [
      'trailers',
      get,
      `${ok}Transfer-Encoding: chunked\r\n\r\n00\r\nX-A: b\r\nX-C:d \r\n\r\n`,
      ['head 200 Transfer-Encoding chunked', 'end X-A b X-C d'],
    ],
    ['HEAD', { method: 'HEAD' }, `${ok}Content-Length: 2\r\n\r\n`, ['head 200 Content-Length 2', 'end']],
    [
      'HEAD with chunks',
      { method: 'HEAD' },
      `${ok}Transfer-Encoding: chunked\r\n\r\n`,
      ['head 200 Transfer-Encoding chunked', 'end'],
    ],
    ['204', get, 'HTTP/1.1 204 No Content\r\n\r\n', ['head 204', 'end']],
    ['304', get, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', ['head 304 Content-Length 9', 'end']],
    ['no reason', get, 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', ['head 200 Content-Length 0', 'end']],
    [
      'blanks and bytes in values',
      get,
      `${ok}X-A:\t b c\xe9 \t\r\nX-B:\r\nContent-Length:0\r\n\r\n`,
      ['head 200 X-A b c\xe9 X-B  Content-Length 0', 'end'],
    ],
    [
      'interim answers',
      get,
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${ok}Content-Length: 0\r\n\r\n`,
      ['information 103 Link a', 'head 200 Content-Length 0', 'end'],
    ],
    [
      'a switch',
      { method: 'GET', upgrade: 'websocket' },
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nbytes',
      ['switch Upgrade websocket bytes'],
    ],
    [
      'Connection: close',
      get,
      `${ok}Connection: a, Close\r\nContent-Length: 0\r\n\r\n`,
      ['head 200 Connection a, Close Content-Length 0', 'last'],
    ],
    ['HTTP/1.0', get, 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', ['head 200 Content-Length 0', 'last']],
    [
      'more than was asked for',
      get,
      `${ok}Content-Length: 1\r\n\r\nabc`,
      ['head 200 Content-Length 1', 'data a', 'end rest bc'],
    ],
    [
      'more than a last chunk',
      get,
      `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nabc`,
      ['head 200 Transfer-Encoding chunked', 'end rest abc'],
    ],
    [
      'a body where none can be',
      { method: 'HEAD' },
      `${ok}Content-Length: 1\r\n\r\na`,
      ['head 200 Content-Length 1', 'end rest a'],
    ],
  ])('%s', (_name, pending, bytes, told) => {
    expect(tell(pending, bytes)).toEqual(told);
  });

  test('bodies come in the same way in whatever pieces they come', () => {
    const bytes = `HTTP/1.1 103 Early Hints\r\n\r\n${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: b\r\n\r\n`;
    expect(tell(get, ...bytes.split(''))).toEqual([
      'information 103',
      'head 200 Transfer-Encoding chunked',
      'data o',
      'data k',
      'end X-A b',
    ]);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const told = tell(get, bytes.slice(0, cut), bytes.slice(cut)).join(' ').replace('o data k', 'ok');
      expect(told).toBe('information 103 head 200 Transfer-Encoding chunked data ok end X-A b');
    }
  });

  test('without a length it ends with the connection, which must not be used again', () => {
    expect(tell(get, `${ok}\r\nab`, 'c', null)).toEqual(['head 200', 'data ab', 'data c', 'end']);
  });

  test.each([
    `${ok}Content-Length: 3\r\n\r\nab`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`,
    `${ok}Content-`,
  ])('with one it does not: %j', (bytes) => {
    expect(tell(get, bytes, null).some((what) => what.startsWith('end'))).toBe(false);
  });
});

describe('what is no answer, or could be read in two ways, is refused', () => {
  test.each([
    'nonsense',
    'HTTP/2',
    'HTTP/1.2 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 099 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'http/1.1 200 OK\r\n\r\n',
    '\r\nHTTP/1.1 200 OK\r\n\r\n',
    `${ok}X-A b\r\n\r\n`,
    `${ok}: b\r\n\r\n`,
    `${ok}X-A : b\r\n\r\n`,
    `${ok} X-A: b\r\n\r\n`,
    `${ok}X-A: b\r\n c\r\n\r\n`,
    `${ok}X-A: b\nX-C: d\r\n\r\n`,
    `${ok}X-A: b\rX-C: d\r\n\r\n`,
    `${ok}X-A: \0\r\n\r\n`,
    `${ok}X-A: \x7f\r\n\r\n`,
    `${ok}X-\xe9: b\r\n\r\n`,
    `${ok}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
    `${ok}Content-Length: 1, 1\r\n\r\na`,
    `${ok}Content-Length: +1\r\n\r\na`,
    `${ok}Content-Length: -1\r\n\r\na`,
    `${ok}Content-Length: 0x1\r\n\r\na`,
    `${ok}Content-Length:\r\n\r\na`,
    `${ok}Content-Length: 9999999999999999\r\n\r\na`,
    `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: identity\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n',
    `${ok}X-A: ${'b'.repeat(headBytes)}\r\n\r\n`,
    `${ok}X-A: ${'b'.repeat(headBytes)}`,
  ])('head %j', (bytes) => {
    expect(tell(get, bytes, ok, null)).toEqual(['malformed']);
  });

  test.each([
    '0x1\r\na\r\n',
    '1 ;a\r\na\r\n',
    '1;a b\r\na\r\n',
    '1;a="\r\na\r\n',
    ' 1\r\na\r\n',
    '-1\r\na\r\n',
    '\r\n',
    'g\r\n',
    '1 \r\na\r\n',
    '1;\n\r\na\r\n',
    '10000000000000\r\n',
    '1\na\n',
    '1\r\nab\r\n',
    '1\r\na\n0\r\n\r\n',
    '1\r\na0\r\n\r\n',
    '0\r\nX-A b\r\n\r\n',
    '0\r\n: b\r\n\r\n',
    '0\r\n X-A: b\r\n\r\n',
    `0\r\n${'X-A: b\r\n'.repeat(headBytes)}`,
    `1;${'a'.repeat(5_000)}`,
  ])('chunks %j', (bytes) => {
    const told = tell(get, `${ok}Transfer-Encoding: chunked\r\n\r\n${bytes}`, ok, null);
    expect(told.at(-1)).toBe('malformed');
    expect(told.filter((what) => what === 'malformed')).toHaveLength(1);
  });
});

test('the fields of a head are not kept while the body arrives', () => {
  const ends: object[] = [];
  const ignore = (): void => undefined;
  const events = { onInformation: ignore, onHead: ignore, onData: ignore, onSwitch: ignore, onMalformed: ignore };
  const reader = new ResponseReader({ ...events, onEnd: (_, head) => void ends.push(head) }, 10_000);
  reader.expect(get);
  reader.read(Buffer.from(`${ok}Content-Length: 2\r\n\r\na`));
  reader.read(Buffer.from('b'));
  expect(ends).toEqual([{ persists: true, keepsFor: undefined }]);
});
