/**
 * The Huffman code of HPACK (RFC 7541 section 5.2 and appendix B). It is canonical: codes of the same length have
 * consecutive values in the order of their symbols. So the lengths determine the codes.
 */

/** Lengths in bits of the codes of all octets, and of the end of a string. */
const lengths: readonly number[] = [
  [13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  [28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  [5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  [13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  [7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  [15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  [6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  [20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  [24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  [22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  [21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  [26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  [19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  [20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  [26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  [30],
].flat();

const sizes = Uint8Array.from(lengths);
/** Bits of a code that are written at once. */
const longestPart = 16;

const endOfString = 256;
const codes = canonicalCodes();

/** Codes in the order of their lengths and symbols. */
function canonicalCodes(): Uint32Array {
  const found = new Uint32Array(lengths.length);
  let next = 0;
  for (let length = 5; length <= 30; length += 1) {
    for (const [symbol, own] of lengths.entries()) {
      if (own !== length) continue;
      found[symbol] = next;
      next += 1;
    }
    next *= 2;
  }
  return found;
}

/** A state of the decoder is a prefix of a code: a node of the tree. The first one is the empty prefix. */
const nibbles = 16;
/** No code begins with these bits, or they end the string, which is an error (RFC 7541 section 5.2). */
const failure = 0xffff;
const nothing = 0xffff;
/** By state and the next four bits: the following state, and the symbol that is complete, if any. No code has less than five bits. */
const following = new Uint16Array(endOfString * nibbles);
const completed = new Uint16Array(endOfString * nibbles).fill(nothing);
/** States in which a string may end: at most seven bits, all of them 1. */
const mayEnd = new Uint8Array(endOfString);
fillTables();

function fillTables(): void {
  const nodes = [new Int32Array(2)];
  for (const [symbol, length] of lengths.entries()) {
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      const side = ((codes[symbol] ?? 0) >>> bit) & 1;
      const branch = nodes[node] ?? new Int32Array(2);
      // Leaves are negative: -1 for symbol 0.
      if (bit === 0) branch[side] = -1 - symbol;
      else if (branch[side] === 0) branch[side] = nodes.push(new Int32Array(2)) - 1;
      node = branch[side] ?? 0;
    }
  }
  for (let state = 0; state < nodes.length; state += 1)
    for (let bits = 0; bits < nibbles; bits += 1) fillTransition(nodes, state, bits);
  for (let state = 0, length = 0; length < 8; length += 1) {
    mayEnd[state] = 1;
    state = nodes[state]?.[1] ?? 0;
  }
}

function fillTransition(nodes: readonly Int32Array[], state: number, bits: number): void {
  let node = state;
  for (let bit = 3; bit >= 0; bit -= 1) {
    const next = nodes[node]?.[(bits >>> bit) & 1] ?? 0;
    if (next === -1 - endOfString) {
      following[state * nibbles + bits] = failure;
      return;
    }
    if (next < 0) completed[state * nibbles + bits] = -1 - next;
    node = Math.max(next, 0);
  }
  following[state * nibbles + bits] = node;
}

let text = Buffer.allocUnsafeSlow(4 * 1024);

/** Decodes bytes to Latin-1 text; `undefined` if they are not a valid string. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | undefined {
  // The shortest code has five bits.
  if (text.length < (end - start) * 2) text = Buffer.allocUnsafeSlow((end - start) * 2);
  let state = 0;
  let length = 0;
  for (let position = start; position < end; position += 1) {
    const byte = bytes[position] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const at = state * nibbles + ((byte >>> shift) & 0xf);
      const symbol = completed[at] ?? nothing;
      state = following[at] ?? failure;
      if (state === failure) return undefined;
      if (symbol !== nothing) {
        text[length] = symbol;
        length += 1;
      }
    }
  }
  return mayEnd[state] === 1 ? text.toString('latin1', 0, length) : undefined;
}

/** The length in bytes of Latin-1 text after encoding. */
export function huffmanLength(plain: string): number {
  let bits = 0;
  for (let position = 0; position < plain.length; position += 1) bits += sizes[plain.charCodeAt(position)] ?? 0;
  return Math.ceil(bits / 8);
}

/** Encodes Latin-1 text into `target`, which has room for it. Returns the position after it. */
export function encodeHuffman(plain: string, target: Buffer, start: number): number {
  let position = start;
  // The lowest `count` bits are not written yet, at most 7 between parts.
  let bits = 0;
  let count = 0;
  for (let index = 0; index < plain.length; index += 1) {
    const symbol = plain.charCodeAt(index);
    const code = codes[symbol] ?? 0;
    // In parts, because numbers of more than 31 bits take several times as long.
    for (let left = sizes[symbol] ?? 0; left > 0;) {
      const part = left > longestPart ? longestPart : left;
      left -= part;
      bits = (bits << part) | ((code >>> left) & ((1 << part) - 1));
      for (count += part; count >= 8; position += 1) {
        count -= 8;
        target[position] = bits >>> count;
      }
    }
  }
  if (count === 0) return position;
  // The rest of the last byte is the beginning of the end of a string: only 1.
  target[position] = (bits << (8 - count)) | (0xff >>> count);
  return position + 1;
}
