/**
 * The buffer that connections are read into, all of them one after the other: a buffer for each read would cost more than
 * most messages. Its content is only valid until the reader of a piece returns.
 */
export const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Whether a piece is a part of `readBuffer`, so that whoever keeps it must copy it. */
export function isBorrowed(piece: Buffer): boolean {
  return piece.buffer === readBuffer.buffer;
}

/** Returns the piece itself, or a copy if it is borrowed. */
export function owned(piece: Buffer): Buffer {
  return isBorrowed(piece) ? Buffer.from(piece) : piece;
}
