import { describe, expect, test } from '@jest/globals';
import { array, assert, constantFrom, integer, nat, oneof, property, record } from 'fast-check';
import { ChunkRuns } from '../../../../src/proxy/http1/chunk-runs.ts';

/** The pieces that the parser gets for a body that arrives in these reads, until it is over; and the rest. */
function passedOn(reads: readonly (string | Buffer)[]): { readonly pieces: Buffer[]; readonly rest: Buffer } {
  const runs = new ChunkRuns();
  const pieces: Buffer[] = [];
  let rest = Buffer.alloc(0);
  for (const read of reads) {
    let held = Buffer.concat([rest, typeof read === 'string' ? Buffer.from(read, 'latin1') : read]);
    while (held.length > 0 && !runs.isOver) {
      const { bytes, length } = runs.next(held);
      pieces.push(Buffer.from(bytes));
      held = held.subarray(length);
    }
    rest = held;
  }
  return { pieces, rest };
}

/** Decodes complete chunks, simply. */
function decoded(bytes: Buffer): string {
  let data = '';
  let rest = bytes.toString('latin1');
  for (;;) {
    const end = rest.indexOf('\r\n');
    if (end === -1) return data;
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (size === 0) return data;
    data += rest.slice(end + 2, end + 2 + size);
    expect(rest.slice(end + 2 + size, end + 4 + size)).toBe('\r\n');
    rest = rest.slice(end + 4 + size);
  }
}

const text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString('latin1');

describe('small chunks', () => {
  test('become one chunk', () => {
    const { pieces, rest } = passedOn(['1\r\na\r\n2\r\nbc\r\n03\r\ndef\r\n0\r\n\r\n']);
    expect(pieces.map(String)).toEqual(['6\r\nabcdef\r\n', '0\r\n']);
    expect(rest.toString()).toBe('\r\n');
  });

  test('that fill a read become three pieces or fewer', () => {
    const body = Buffer.from('1\r\nx\r\n'.repeat(50_000));
    const reads = Array.from({ length: 5 }, (_, index) =>
      body.subarray(Math.max(0, index * 60_000 - 1), (index + 1) * 60_000 - 1),
    );
    const { pieces } = passedOn(reads);
    expect(pieces.length).toBeLessThanOrEqual(3 * reads.length);
    // Each keeps no more memory than its own bytes.
    expect(passedOn(['1\r\nx\r\n'.repeat(1_000)]).pieces.map(({ length }) => length)).toEqual([1_007]);
  });

  test('lose their extensions', () => {
    const { pieces } = passedOn(['1;a\r\nx\r\n1;b="c\\"d";e=f\r\ny\r\n']);
    expect(text(pieces)).toBe('2\r\nxy\r\n');
  });
});

test.each([
  ['a single chunk', '3\r\nabc\r\n'],
  ['an incomplete chunk', '1\r\nx\r\n5\r\nab'],
  ['large chunks', `2000\r\n${'x'.repeat(0x2000)}\r\n`.repeat(2)],
  ['an extension that is not valid', '1; \r\nx\r\n1; \r\ny\r\n'],
  ['a size without digits', '\r\nx\r\n'],
  ['a bare line feed', '1\nx\n1\ny\n'],
  ['data longer than its chunk', '1\r\nxA\r\nabcdefghij\r\n'],
  ['a size beyond all numbers', `${'f'.repeat(17)}\r\nx`],
])('%s is passed on unchanged', (_name, body) => {
  const { pieces, rest } = passedOn([body]);
  expect(text([...pieces, rest])).toBe(body);
});

test('the body is over after the first line of its last chunk, wherever its bytes are divided', () => {
  const body = '1\r\nx\r\n0;a=b\r\nX-A: 1\r\n\r\nGET';
  for (let at = 1; at < body.length; at += 1) {
    const { pieces, rest } = passedOn([body.slice(0, at), body.slice(at)]);
    expect([text(pieces), rest.toString()]).toEqual(['1\r\nx\r\n0;a=b\r\n', 'X-A: 1\r\n\r\nGET']);
  }
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
      const body = `${chunks.map(({ size, extension }, index) => `${size.toString(16)}${extension}\r\n${data[index]}\r\n`).join('')}0\r\n\r\n`;
      const places = [0, ...cuts.map((cut) => cut % body.length).toSorted((a, b) => a - b), body.length];
      const { pieces, rest } = passedOn(places.slice(1).map((place, index) => body.slice(places[index], place)));
      expect(decoded(Buffer.concat([...pieces, rest]))).toBe(data.join(''));
    }),
  );
});
