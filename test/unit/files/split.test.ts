import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { DocumentSplitter, splitDocuments, type Chunk } from '../../../src/files/split.ts';

function splitPieces(pieces: readonly string[]): readonly Chunk[] {
  const splitter = new DocumentSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

const line = fc.constantFrom(
  '---',
  '--- # a',
  '...',
  '%YAML 1.2',
  '# c',
  'a: 1',
  '  ---',
  '----',
  '',
  'b: |',
  '---\r',
  'a: ---',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => lines.join('\n') + end);

describe('splitting', () => {
  test('comes to the same however a stream is cut into pieces', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(20), { maxLength: 10 }), (whole, sizes) => {
        const pieces: string[] = [];
        let from = 0;
        for (const size of sizes) {
          pieces.push(whole.slice(from, from + size));
          from += size;
        }
        expect(splitPieces([...pieces, whole.slice(from)])).toEqual(splitDocuments(whole));
      }),
      { numRuns: 2_000 },
    );
  });

  test('loses nothing, and counts lines', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const chunks = splitDocuments(whole);
        expect(chunks.map((chunk) => chunk.text).join('')).toBe(whole);
        for (const [index, chunk] of chunks.entries()) {
          const before = chunks
            .slice(0, index)
            .map((one) => one.text)
            .join('');
          expect(chunk.line).toBe(before.split('\n').length);
        }
      }),
    );
  });

  test('holds back no more than the chunk under way', () => {
    const splitter = new DocumentSplitter();
    splitter.push('a: 1\n---\nb: 2\n---\nc');
    expect(splitter.pending).toBe('---\nc'.length);
    splitter.push(': 3');
    expect(splitter.pending).toBe('---\nc: 3'.length);
  });
});
