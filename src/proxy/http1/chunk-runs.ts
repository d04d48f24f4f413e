import { chunkSize } from '../messages/chunk-head.ts';

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const semicolon = 0x3b;

/** Larger chunks are passed on unchanged: copying them costs more than handling them one by one. */
const longestJoined = 4_096;
/** The longest first line of a chunk that is joined to others. */
const longestLine = 256;

/** The bytes of a body that the parser gets next. */
export interface Piece {
  readonly bytes: Buffer;
  /** Number of received bytes that `bytes` replaces. */
  readonly length: number;
}

/**
 * Joins small chunks of a chunked request body (RFC 9112 section 7.1). Node's parser emits each chunk separately, and
 * each one passes the whole pipeline, so a client that sends single bytes in chunks would keep the process busy. Only
 * runs of complete and correct chunks are replaced, by one chunk with the same data. All other bytes are passed on
 * unchanged, so the parser finds every syntax error.
 */
export class ChunkRuns {
  private stage: 'size' | 'extension' | 'line-end' | 'data' | 'gap' | 'gap-end' = 'size';
  /** Whether part of the first line of the current chunk was passed on. */
  private isInside = false;
  /** Size of the current chunk, then the rest of its data. */
  private remaining = 0;
  private hasEnded = false;

  /** Whether the next bytes are trailers, or have no known framing. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Returns the next piece of the received bytes, of which there must be some. Not to be called when it is over. */
  next(held: Buffer): Piece {
    const run = this.stage === 'size' && !this.isInside ? joinedRun(held) : undefined;
    return run ?? this.unchanged(held);
  }

  /** Returns the bytes up to the end of the current chunk. */
  private unchanged(held: Buffer): Piece {
    let position = 0;
    do {
      if (this.stage === 'data') {
        const taken = Math.min(this.remaining, held.length - position);
        this.remaining -= taken;
        position += taken;
        if (this.remaining === 0) this.stage = 'gap';
      } else {
        this.follow(held[position] ?? 0);
        position += 1;
      }
    } while (position < held.length && !this.hasEnded && (this.stage !== 'size' || this.isInside));
    return { bytes: position === held.length ? held : held.subarray(0, position), length: position };
  }

  /** Takes one byte outside the data. */
  private follow(byte: number): void {
    switch (this.stage) {
      case 'size':
        this.readSize(byte);
        return;
      case 'extension':
        if (byte === carriageReturn) this.stage = 'line-end';
        return;
      case 'line-end':
        this.expect(byte, lineFeed, 'data');
        this.isInside = false;
        this.hasEnded ||= this.remaining === 0;
        return;
      case 'gap':
        this.expect(byte, carriageReturn, 'gap-end');
        return;
      case 'gap-end':
        this.expect(byte, lineFeed, 'size');
        return;
      case 'data':
        // Taken in larger pieces.
        return;
    }
  }

  private readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit !== undefined) {
      this.remaining = this.remaining * 16 + digit;
      // Larger numbers are not exact. The parser knows what to do with them.
      this.hasEnded = this.remaining > Number.MAX_SAFE_INTEGER;
    } else if (!this.isInside) this.hasEnded = true;
    else if (byte === semicolon) this.stage = 'extension';
    else this.expect(byte, carriageReturn, 'line-end');
    this.isInside = true;
  }

  private expect(byte: number, wanted: number, next: typeof this.stage): void {
    if (byte === wanted) this.stage = next;
    else this.hasEnded = true;
  }
}

/** Data of a run while it is collected. */
const collected = Buffer.alloc(64 * 1024);

/** Joins the complete small chunks at the beginning; `undefined` for fewer than two. */
function joinedRun(held: Buffer): Piece | undefined {
  let count = 0;
  let filled = 0;
  let position = 0;
  for (;;) {
    const chunk = smallChunkAt(held, position);
    if (chunk === undefined || filled + chunk.size > collected.length) break;
    // For a few bytes a call would take longer.
    if (chunk.size === 1) collected[filled] = held[chunk.start] ?? 0;
    else held.copy(collected, filled, chunk.start, chunk.start + chunk.size);
    filled += chunk.size;
    position = chunk.start + chunk.size + 2;
    count += 1;
  }
  if (count < 2) return undefined;
  const head = `${filled.toString(16)}\r\n`;
  // Not from the pool of buffers: whoever keeps the data keeps no more than that.
  const bytes = Buffer.allocUnsafeSlow(head.length + filled + 2);
  bytes.write(head, 'latin1');
  collected.copy(bytes, head.length, 0, filled);
  bytes.write('\r\n', head.length + filled, 'latin1');
  return { bytes, length: position };
}

/** Finds the data of a small chunk that is complete and correct. */
function smallChunkAt(held: Buffer, at: number): { readonly start: number; readonly size: number } | undefined {
  let size = 0;
  let position = at;
  for (let digit = digitOf(held[position]); digit !== undefined; digit = digitOf(held[position])) {
    size = size * 16 + digit;
    position += 1;
    if (size > longestJoined) return undefined;
  }
  if (held[position] === semicolon) position = lineEnd(held, at);
  if (size === 0 || !breaksLine(held, position) || !breaksLine(held, position + 2 + size)) return undefined;
  return { start: position + 2, size };
}

/** Returns the end of a first line with extensions, or -1 if it is incomplete, long or wrong. */
function lineEnd(held: Buffer, at: number): number {
  const end = held.indexOf(carriageReturn, at);
  return end !== -1 && end - at <= longestLine && chunkSize(held.toString('latin1', at, end)) !== undefined ? end : -1;
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
