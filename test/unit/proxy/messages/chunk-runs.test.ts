import { describe, expect, test } from '@jest/globals';
import { array, assert, constantFrom, integer, nat, oneof, property, record } from 'fast-check';
import { chunkSize } from '../../../../src/proxy/messages/chunk-head.ts';
import { smallChunks } from '../../../../src/proxy/messages/chunk-runs.ts';
import { ChunkedBody } from '../../../../src/proxy/messages/chunked-body.ts';

const run = (bytes: string): { readonly data: string; readonly length: number } | undefined => {
  const found = smallChunks(Buffer.from(bytes, 'latin1'));
  return found && { data: found.data.toString('latin1'), length: found.length };
};

/** The pieces of data of a chunked body that arrives in these reads, and the bytes behind its end. */
function decoded(reads: readonly (string | Buffer)[]): { readonly pieces: Buffer[]; readonly end: string | undefined } {
  const pieces: Buffer[] = [];
  const body = new ChunkedBody((data) => pieces.push(data), 4_096);
  let end: string | undefined;
  for (const read of reads) {
    const found = body.read(typeof read === 'string' ? Buffer.from(read, 'latin1') : read);
    if (found !== undefined) end = typeof found === 'string' ? found : found.rest.toString('latin1');
  }
  return { pieces, end };
}

describe('small chunks', () => {
  test('that are complete become one piece', () => {
    expect(run('1\r\na\r\n2\r\nbc\r\n03\r\ndef\r\n0\r\n\r\n')).toEqual({ data: 'abcdef', length: 22 });
    expect(run('1\r\nx\r\n1\r\ny\r\n5\r\nab')).toEqual({ data: 'xy', length: 12 });
  });

  test('may have extensions', () => {
    expect(run('1;a\r\nx\r\n1;b="c\\"d";e=f\r\ny\r\n')?.data).toBe('xy');
  });

  test('that fill a read become few pieces, which keep no more memory than their own bytes', () => {
    const body = Buffer.from('1\r\nx\r\n'.repeat(50_000));
    const reads = Array.from({ length: 5 }, (_, index) =>
      body.subarray(Math.max(0, index * 60_000 - 1), (index + 1) * 60_000 - 1),
    );
    const { pieces } = decoded(reads);
    expect(pieces.length).toBeLessThanOrEqual(reads.length);
    expect(Buffer.concat(pieces)).toHaveLength(50_000);
    expect(smallChunks(Buffer.from('1\r\nx\r\n'.repeat(1_000)))?.data.buffer.byteLength).toBe(1_000);
  });
});

test.each([
  ['a size of more digits than a chunk alone may have', `${'0'.repeat(13)}1\r\nx\r\n`.repeat(2)],
  ['a single chunk', '3\r\nabc\r\n'],
  ['an incomplete chunk', '5\r\nab'],
  ['large chunks', `2000\r\n${'x'.repeat(0x2000)}\r\n`.repeat(2)],
  ['an extension that is not valid', '1; \r\nx\r\n1; \r\ny\r\n'],
  ['a size without digits', '\r\nx\r\n'],
  ['a bare line feed', '1\nx\n1\ny\n'],
  ['data longer than its chunk', '1\r\nxA\r\nabcdefghij\r\n'],
  ['a size beyond all numbers', `${'f'.repeat(17)}\r\nx`],
  ['the last chunk', '0\r\n\r\n'],
])('%s is no run', (_name, body) => {
  expect(run(body)).toBeUndefined();
});

test('the data is the same for chunks of all sizes, divided anywhere', () => {
  const chunk = record({
    size: oneof(integer({ min: 1, max: 9 }), integer({ min: 1, max: 9_000 })),
    extension: constantFrom('', '', '', ';a', ';a="b"'),
  });
  assert(
    property(array(chunk, { maxLength: 30 }), array(nat(20_000), { maxLength: 20 }), (chunks, cuts) => {
      let count = 0;
      const data = chunks.map(({ size }) =>
        Array.from({ length: size }, () => String.fromCharCode(97 + (count++ % 26))).join(''),
      );
      const body = `${chunks.map(({ size, extension }, index) => `${size.toString(16)}${extension}\r\n${data[index]}\r\n`).join('')}0\r\n\r\nGET`;
      const places = [0, ...cuts.map((cut) => cut % (body.length - 3)).toSorted((a, b) => a - b), body.length];
      const { pieces, end } = decoded(places.slice(1).map((place, index) => body.slice(places[index], place)));
      expect(Buffer.concat(pieces).toString('latin1')).toBe(data.join(''));
      expect(end).toBe('GET');
    }),
  );
});

test('extensions are valid if they are valid for a chunk alone', () => {
  const part = constantFrom(
    ';',
    'z',
    '=',
    '"',
    '\\',
    ' ',
    '\t',
    '\x80',
    '\x7f',
    '\0',
    '{',
    '\n',
    '"b"',
    ';c="d"',
    ';e=f',
  );
  assert(
    property(array(part, { maxLength: 8 }), (parts) => {
      const line = `1${parts.join('')}`;
      expect(run(`${line}\r\nx\r\n`.repeat(2)) !== undefined).toBe(chunkSize(line) !== undefined);
    }),
    { numRuns: 2_000 },
  );
  expect(run(`1;${'a'.repeat(254)}\r\nx\r\n`.repeat(2))?.data).toBe('xx');
  expect(run(`1;${'a'.repeat(255)}\r\nx\r\n`.repeat(2))).toBeUndefined();
  expect(run(`1;${'a;'.repeat(200)}\r\nx\r\n`.repeat(2))).toBeUndefined();
  expect(run(`1;a="${'b'.repeat(251)}"\r\nx\r\n`.repeat(2))).toBeUndefined();
});
