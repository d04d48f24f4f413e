import { expect, test } from '@jest/globals';
import { FrameReader } from '../../../../src/proxy/http2/http2-frames.ts';
import { frame, preface } from '../../../support/http2.ts';

const bytes = Buffer.concat([
  preface,
  frame('headers', 5, 1, Buffer.alloc(20)),
  frame('data', 0, 1),
  frame('ping', 0, 0, Buffer.alloc(8)),
  frame('data', 1, 1, Buffer.alloc(300)),
]);
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

test('stops between two frames, and in the middle of one only where the bytes end', () => {
  const reader = new FrameReader(() => 1);
  const frames = [
    Buffer.concat([preface, frame('headers', 5, 1, Buffer.alloc(20))]),
    frame('headers', 5, 3, Buffer.alloc(30)),
    frame('data', 1, 3, Buffer.alloc(40)),
  ];
  let rest = Buffer.concat(frames);
  // The preface ends with the frame of the settings.
  const settings = 9;
  for (const length of [24 + settings, 9 + 20, 9 + 30, 9 + 40]) {
    expect(reader.read(rest, 1)).toEqual({ length, work: 1 });
    rest = rest.subarray(length);
  }
  expect(rest).toHaveLength(0);
});

test.each([
  ['HEADERS', [frame('headers', 5, 1, Buffer.alloc(20))]],
  ['HEADERS without fields', [frame('headers', 5, 1)]],
  [
    'HEADERS and CONTINUATION',
    [
      frame('headers', 1, 1, Buffer.alloc(20)),
      frame('continuation', 0, 1, Buffer.alloc(3)),
      frame('continuation', 4, 1, Buffer.alloc(4)),
    ],
  ],
])('knows that it stands in a header section: %s', (_name, section) => {
  const reader = new FrameReader(() => 1);
  const isInside = (bytes: Buffer) => {
    reader.read(bytes, Infinity);
    return reader.isInHeaderSection;
  };
  expect(isInside(preface)).toBe(false);
  const all = Buffer.concat(section);
  // The type of a frame shows with its whole head.
  for (let index = 0; index < all.length; index += 1)
    expect(isInside(all.subarray(index, index + 1))).toBe(index >= 8 && index < all.length - 1);
  expect(isInside(frame('data', 0, 1, Buffer.alloc(5)).subarray(0, 11))).toBe(false);
});
