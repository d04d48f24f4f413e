import { request as startRequest } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ResponseReader } from '../../src/proxy/upstream/response-reader.ts';

/** An answer as one reading of its bytes; `undefined` where it was refused or did not end. */
type Reading =
  | {
      readonly status: number;
      readonly fields: readonly string[];
      readonly body: string;
      readonly trailers: readonly string[];
    }
  | undefined;

/** And how many bytes stand behind it. */
function readByProxy(pieces: readonly Buffer[]): { readonly reading: Reading; readonly rest: number } {
  let reading: Reading;
  let rest = 0;
  let head: Pick<NonNullable<Reading>, 'status' | 'fields'> | undefined;
  let body = '';
  const reader = new ResponseReader(
    {
      onInformation: () => undefined,
      onHead: ({ status, fields }) => (head = { status, fields }),
      onData: (data) => (body += data.toString('latin1')),
      onEnd: (trailers, _head, behind) => {
        reading = head === undefined ? undefined : { ...head, body, trailers };
        rest = behind.length;
      },
      onSwitch: () => undefined,
      onMalformed: () => undefined,
    },
    4_096,
  );
  reader.expect({ method: 'GET' });
  for (const piece of pieces) reader.read(piece);
  reader.end();
  return { reading, rest };
}

/** How the parser of Node reads the same. */
function readByNode(bytes: Buffer): Promise<Reading> {
  const { promise, resolve } = Promise.withResolvers<Reading>();
  const connection = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const message = startRequest({ createConnection: () => connection, host: 'a' });
  message.on('error', () => resolve(undefined));
  message.on('response', (response) => {
    let body = '';
    response
      .on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
      .on('error', () => resolve(undefined))
      .on('close', () => resolve(undefined));
    response.on('end', () =>
      resolve(
        response.complete
          ? { status: response.statusCode ?? 0, fields: response.rawHeaders, body, trailers: response.rawTrailers }
          : undefined,
      ),
    );
  });
  message.end();
  connection.push(bytes);
  connection.push(null);
  return promise;
}

// Parts of answers, right and wrong, in any order: most of what comes out is nearly an answer.
const piece = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304',
  'HTTP/1.1 103 Early Hints',
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0',
  '1',
  '5',
  'a',
  'ff',
  '\0',
  '\xe9',
  'Content-Length: 5',
  'content-length: 0',
  'Transfer-Encoding: chunked',
  'transfer-encoding: gzip',
  'Connection: close',
  'X-A: b',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'hello',
  '1;a=b\r\nc\r\n',
  '0\r\nX-T: u\r\n\r\n',
);
const start = fc.constantFrom(
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n',
  '',
);
const answer = fc
  .tuple(start, fc.array(piece, { maxLength: 8 }))
  .map(([first, rest]) => Buffer.from([first, ...rest].join(''), 'latin1'));
const cuts = fc.array(fc.nat(120), { maxLength: 4 });

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [
    0,
    ...places.filter((place) => place < bytes.length).toSorted((one, other) => one - other),
    bytes.length,
  ];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

test('an answer that is taken is read as by the parser of Node, and in the same way in whatever pieces it comes', async () => {
  await fc.assert(
    fc.asyncProperty(answer, cuts, async (bytes, places) => {
      const { reading, rest } = readByProxy([bytes]);
      expect(readByProxy(cut(bytes, places)).reading).toEqual(reading);
      if (reading !== undefined) expect(await readByNode(bytes.subarray(0, bytes.length - rest))).toEqual(reading);
    }),
    { numRuns: 3_000 },
  );
});
