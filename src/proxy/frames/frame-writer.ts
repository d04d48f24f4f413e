import type { Socket } from 'node:net';
import { frameFlags, frameHeadLength, frameTypes, maxPayload } from './protocol.ts';

/** Longer pieces are written as they are; copying shorter ones is cheaper than a write of several pieces. */
const longestCopy = 8 * 1024;

/** The frames that are written to one socket at a time. Shared by all connections, because it is empty in between. */
let copied = Buffer.allocUnsafeSlow(64 * 1024);

/** Collects frames of one connection, and writes them to its socket in one call. */
export class FrameWriter {
  private length = 0;
  private pieces: Buffer[] = [];
  private piecesLength = 0;

  /** The number of bytes so far. */
  get size(): number {
    return this.piecesLength + this.length;
  }

  /** Adds a frame head (RFC 9113 section 4.1). Its payload must follow. */
  head(type: number, flags: number, stream: number, length: number): void {
    this.reserve(frameHeadLength);
    copied[this.length] = length >>> 16;
    copied[this.length + 1] = length >>> 8;
    copied[this.length + 2] = length;
    copied[this.length + 3] = type;
    copied[this.length + 4] = flags;
    copied[this.length + 5] = stream >>> 24;
    copied[this.length + 6] = stream >>> 16;
    copied[this.length + 7] = stream >>> 8;
    copied[this.length + 8] = stream;
    this.length += frameHeadLength;
  }

  /** Adds a header section as HEADERS and as many CONTINUATION frames as it needs (RFC 9113 section 6.10). */
  section(block: Buffer, stream: number, flags: number): void {
    let start = 0;
    do {
      const end = Math.min(start + maxPayload, block.length);
      const isLast = end === block.length ? frameFlags.endHeaders : 0;
      if (start === 0) this.head(frameTypes.headers, flags | isLast, stream, end);
      else this.head(frameTypes.continuation, isLast, stream, end - start);
      this.bytes(block.subarray(start, end), 'reused');
      start = end;
    } while (start < block.length);
  }

  /** Adds bytes. `kept` ones do not change any more, and may be written without a copy. */
  bytes(bytes: Buffer, use: 'kept' | 'reused' = 'kept'): void {
    if (use === 'kept' && bytes.length > longestCopy) {
      this.cut();
      this.pieces.push(bytes);
      this.piecesLength += bytes.length;
      return;
    }
    this.reserve(bytes.length);
    bytes.copy(copied, this.length);
    this.length += bytes.length;
  }

  /** Writes everything. Returns `false` if the socket cannot take more. */
  flush(socket: Socket): boolean {
    this.cut();
    const { pieces } = this;
    const [only] = pieces;
    this.pieces = [];
    this.piecesLength = 0;
    if (only === undefined) return true;
    if (pieces.length === 1) return socket.write(only);
    socket.cork();
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  /** Drops everything: it must not reach another connection. */
  discard(): void {
    this.length = 0;
    this.pieces = [];
    this.piecesLength = 0;
  }

  private reserve(length: number): void {
    if (this.length + length <= copied.length) return;
    this.cut();
    if (length > copied.length) copied = Buffer.allocUnsafeSlow(length);
  }

  private cut(): void {
    if (this.length === 0) return;
    this.pieces.push(Buffer.from(copied.subarray(0, this.length)));
    this.piecesLength += this.length;
    this.length = 0;
  }
}

/** Returns a small frame as bytes. */
export function frameOf(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadLength + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, frameHeadLength);
  return bytes;
}
