import type { Fields } from '../../core/text/fields.ts';
import { Held } from '../sockets/held.ts';
import { chunkSize } from './chunk-head.ts';
import { smallChunks } from './chunk-runs.ts';
import { parseFieldLines } from './field-lines.ts';

const lineBreak = Buffer.from('\r\n');
const longestLine = 4_096;
/** A line takes many times its bytes in memory if it is short. */
const maxTrailers = 200;

export interface ChunkedBodyEnd {
  readonly trailers: Fields;
  /** The bytes after the body. */
  readonly rest: Buffer;
}

/** Decodes a chunked body (RFC 9112 section 7.1). */
export class ChunkedBody {
  private readonly onData: (data: Buffer) => void;
  private readonly trailerBytes: number;
  private readonly held = new Held();
  private stage: 'size' | 'data' | 'gap' | 'trailers' = 'size';
  private remaining = 0;
  private readonly trailers: string[] = [];
  private trailerLength = 0;
  /** Content of the current bytes. Many small chunks are passed on as one, since each piece costs more than its bytes. */
  private pieces: Buffer[] = [];

  constructor(onData: (data: Buffer) => void, trailerBytes: number) {
    this.onData = onData;
    this.trailerBytes = trailerBytes;
  }

  /** Bytes of an incomplete line and of trailers. */
  get heldBytes(): number {
    return this.held.length + this.trailerLength;
  }

  /** Reads the next bytes. Returns the end if it is among them, `broken` for a syntax error, `too-long` if a limit is exceeded. */
  read(bytes: Buffer): ChunkedBodyEnd | 'broken' | 'too-long' | undefined {
    const end = this.take(bytes);
    const { pieces } = this;
    this.pieces = [];
    if (pieces[0] !== undefined) this.onData(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    return end;
  }

  private take(bytes: Buffer): ChunkedBodyEnd | 'broken' | 'too-long' | undefined {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.stage === 'data') {
        rest = this.readData(rest);
        continue;
      }
      const run = this.stage === 'size' && this.held.isEmpty ? smallChunks(rest) : undefined;
      if (run !== undefined) {
        this.pieces.push(run.data);
        rest = rest.subarray(run.length);
        continue;
      }
      const line = this.held.take(rest, lineBreak, longestLine);
      if (line === undefined) return undefined;
      if (line === 'too-long') return line;
      rest = line.rest;
      if (this.stage === 'trailers' && line.text === '') return this.end(rest);
      if (!this.readLine(line.text)) return 'broken';
      if (this.trailerLength > this.trailerBytes || this.trailers.length > maxTrailers) return 'too-long';
    }
    return undefined;
  }

  private readData(bytes: Buffer): Buffer {
    const data = bytes.subarray(0, this.remaining);
    this.remaining -= data.length;
    if (this.remaining === 0) this.stage = 'gap';
    this.pieces.push(data);
    return bytes.subarray(data.length);
  }

  private readLine(line: string): boolean {
    if (this.stage === 'trailers') {
      this.trailers.push(line);
      this.trailerLength += line.length + lineBreak.length;
      return true;
    }
    if (this.stage === 'gap') {
      this.stage = 'size';
      return line === '';
    }
    const size = chunkSize(line);
    this.remaining = size ?? 0;
    this.stage = this.remaining === 0 ? 'trailers' : 'data';
    return size !== undefined;
  }

  private end(rest: Buffer): ChunkedBodyEnd | 'broken' {
    const trailers = parseFieldLines(this.trailers.map((line) => `\r\n${line}`).join(''));
    return trailers === undefined ? 'broken' : { trailers, rest };
  }
}
