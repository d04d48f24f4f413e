import { extensionsEnd } from './chunk-head.ts';

const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/** Copying larger chunks costs more than handling them one by one. */
const longestJoined = 4_096;
/** The longest first line of a chunk that is joined to others. */
const longestLine = 256;

const maxDigits = 13;

/** Data of a run while it is collected. */
const collected = Buffer.alloc(64 * 1024);

/**
 * Joins the data of the small, complete and correct chunks at the beginning of some bytes, of which `length` are taken
 * (RFC 9112 section 7.1). Returns `undefined` for fewer than two such chunks. A client that sends single bytes in chunks
 * would keep the process busy if each chunk was parsed on its own.
 */
export function smallChunks(bytes: Buffer): { readonly data: Buffer; readonly length: number } | undefined {
  let count = 0;
  let filled = 0;
  let position = 0;
  for (;;) {
    const chunk = smallChunkAt(bytes, position);
    if (chunk === undefined || filled + chunk.size > collected.length) break;
    // For a few bytes a call would take longer.
    if (chunk.size === 1) collected[filled] = bytes[chunk.start] ?? 0;
    else bytes.copy(collected, filled, chunk.start, chunk.start + chunk.size);
    filled += chunk.size;
    position = chunk.start + chunk.size + 2;
    count += 1;
  }
  if (count < 2) return undefined;
  // Not from the pool of buffers: whoever keeps the data keeps no more than that.
  const data = Buffer.allocUnsafeSlow(filled);
  collected.copy(data, 0, 0, filled);
  return { data, length: position };
}

/** Finds the data of a small chunk that is complete and correct. */
function smallChunkAt(held: Buffer, at: number): { readonly start: number; readonly size: number } | undefined {
  let size = 0;
  let position = at;
  for (let digit = digitOf(held[position]); digit !== undefined; digit = digitOf(held[position])) {
    size = size * 16 + digit;
    position += 1;
    // As in chunkSize, which decides on other chunks.
    if (size > longestJoined || position - at > maxDigits) return undefined;
  }
  if (position > at) position = extensionsEnd(held, position, at + longestLine);
  if (size === 0 || !breaksLine(held, position) || !breaksLine(held, position + 2 + size)) return undefined;
  return { start: position + 2, size };
}

function breaksLine(held: Buffer, at: number): boolean {
  return held[at] === carriageReturn && held[at + 1] === lineFeed;
}

function digitOf(byte: number | undefined): number | undefined {
  if (byte === undefined || byte < 0x30) return undefined;
  if (byte <= 0x39) return byte - 0x30;
  // The bit in which letters of both cases differ.
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
