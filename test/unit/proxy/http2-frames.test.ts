import { expect, test } from '@jest/globals';
import { FrameReader } from '../../../src/proxy/http2-frames.ts';
import { frame, preface } from '../../support/http2.ts';

const bytes = Buffer.concat([preface, frame('headers', 5, 1, Buffer.alloc(20)), frame('data', 0, 1), frame('ping', 0, 0, Buffer.alloc(8)), frame('data', 1, 1, Buffer.alloc(300))]);
const found = ['4 0 0', '1 20 5', '0 0 0', '6 8 0', '0 300 1'];

/** Reads pieces of so many bytes, within a budget. */
function readIn(size: number, budget: number): readonly string[] {
  const frames: string[] = [];
  const reader = new FrameReader((type, length, flags) => {
    frames.push(`${type} ${length} ${flags}`);
    return 1;
  });
  for (let start = 0; start < bytes.length; start += size) {
    let piece = bytes.subarray(start, start + size);
    while (piece.length > 0) {
      const { length, work } = reader.read(piece, budget);
      expect(work).toBeLessThanOrEqual(budget);
      expect(length).toBeGreaterThan(0);
      piece = piece.subarray(length);
    }
  }
  return frames;
}

test.each([1, 2, 5, 8, 9, 10, 33, 1_000])('finds the frames in pieces of %d bytes', (size) => {
  expect(readIn(size, Infinity)).toEqual(found);
  expect(readIn(size, 1)).toEqual(found);
});
