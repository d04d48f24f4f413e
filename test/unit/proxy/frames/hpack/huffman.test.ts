import { describe, expect, test } from '@jest/globals';
import { decodeHuffman, encodeHuffman, huffmanLength } from '../../../../../src/proxy/frames/hpack/huffman.ts';

function encode(text: string): Buffer {
  const bytes = Buffer.alloc(huffmanLength(text) + 1, 0xaa);
  const end = encodeHuffman(text, bytes, 0);
  expect(end).toBe(huffmanLength(text));
  // Nothing is written behind the text.
  expect(bytes[end]).toBe(0xaa);
  return bytes.subarray(0, end);
}

describe('the Huffman code', () => {
  test.each([
    ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
    ['no-cache', 'a8eb10649cbf'],
    ['custom-value', '25a849e95bb8e8b4bf'],
    ['302', '6402'],
    ['', ''],
    // RFC 7541 appendix B: the codes of some octets, padded.
    ['\0', 'ffc7'],
    ['\n', 'fffffff3'],
    ['~', 'ffef'],
    ['\xff', 'fffffbbf'],
  ])('encodes %j as in RFC 7541', (text, bytes) => {
    expect(encode(text).toString('hex')).toBe(bytes);
  });

  test('every octet comes back, at every position of a byte', () => {
    const octets = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet));
    for (const octet of octets) {
      for (const before of ['', 'a', 'aa', '0~', octet]) {
        const bytes = encode(`${before}${octet}`);
        expect(decodeHuffman(bytes, 0, bytes.length)).toBe(`${before}${octet}`);
      }
    }
    const all = encode(octets.join(''));
    expect(decodeHuffman(all, 0, all.length)).toBe(octets.join(''));
  });

  test('a part of the bytes is decoded', () => {
    const bytes = Buffer.concat([Buffer.from([0]), encode('no-cache'), Buffer.from([0])]);
    expect(decodeHuffman(bytes, 1, bytes.length - 1)).toBe('no-cache');
  });

  test('a string longer than all before it', () => {
    const text = '0'.repeat(100_000);
    const bytes = encode(text);
    expect(decodeHuffman(bytes, 0, bytes.length)).toBe(text);
  });
});
