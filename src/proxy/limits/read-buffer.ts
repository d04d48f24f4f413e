/**
 * The buffer that connections are read into, all of them one after the other: a buffer for each read would cost more than
 * most messages. Its content is only valid until the reader of a piece returns.
 */
export const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Parts of the buffer by length: most connections read pieces of few different lengths. */
const parts: (Buffer | undefined)[] = Array.from({ length: 256 }, () => undefined);

/** Returns the first bytes of `readBuffer`. */
export function readPiece(length: number): Buffer {
  const known = parts[length % parts.length];
  if (known?.length === length) return known;
  const piece = readBuffer.subarray(0, length);
  parts[length % parts.length] = piece;
  return piece;
}

/** Whether a piece is a part of `readBuffer`, so that whoever keeps it must copy it. */
export function isBorrowed(piece: Buffer): boolean {
  return piece.buffer === readBuffer.buffer;
}

/** Returns the piece itself, or a copy if it is borrowed. */
export function owned(piece: Buffer): Buffer {
  return isBorrowed(piece) ? Buffer.from(piece) : piece;
}
