import { METHODS } from 'node:http';
import type { Fields } from '../../core/text/fields.ts';
import { standalone } from '../limits/buffered.ts';
import { ChunkedBody } from '../messages/chunked-body.ts';
import { parseFieldLines } from '../messages/field-lines.ts';
import { isKept } from '../messages/repeated.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { RawRequest } from '../messages/request-head.ts';

/** The framing of a body: its length in bytes, or `chunked`. After `unknown`, no further byte can be interpreted. */
export type BodyFraming = number | 'chunked' | 'unknown';

/** The fields of a head as text, with a line break before each and with the empty line at the end, and parsed. */
interface ParsedFields {
  readonly text: string;
  readonly fields: string[];
}

/** Callbacks in the order of this list. */
export interface RequestEvents {
  /** The syntax of the head is valid, and `available` bytes follow it. Returns the framing of the body. */
  onHead(head: RawRequest, available: number): BodyFraming;
  onData(data: Buffer): void;
  onEnd(trailers: Fields): void;
  /** The bytes are not valid HTTP/1, or exceed a limit. Nothing is called after that. */
  onMalformed(reason: AnswerReason): void;
}

const endOfHead = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const methods: ReadonlySet<string> = new Set(METHODS);

// Every byte of a head is validated (RFC 9112 sections 3 and 5). There is no tolerance for other line ends, more spaces,
// or other versions. The method, the target and the meaning of the fields are checked later.
const requestLine = /^[A-Z-]+ [\x21-\x7e]+ HTTP\/1\.[01]$/;
/** Recipients differ in whether a tab may follow a coding. */
const tabInCoding = /\r\ntransfer-encoding:[^\r]*\t/i;
/** The beginning of a request line. */
const startOfHead = /^[A-Z][A-Z-]{0,31}(?:$| )/;
/** Bytes before repeated fields in which the request line is looked for first, and then: more than heads that are kept have. */
const [usualLine, longestLine] = [256, 4 * 1024];
/** Bytes that are neither text nor a part of CRLF. */
const neverInHead = /[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/;

/**
 * Parses the requests of one connection (RFC 9112), one after the other. It accepts only messages that every recipient
 * interprets in the same way: the tests compare each accepted message with the strict mode of Node's parser.
 */
export class RequestReader {
  private readonly events: RequestEvents;
  private readonly headerBytes: number;
  /** Bytes of an incomplete head. */
  private partial: Buffer | undefined;
  private stage: 'head' | 'body' | 'chunks' | 'over' = 'head';
  private remaining = 0;
  private chunks: ChunkedBody | undefined;
  /** The fields of the previous head. Many clients send the same ones with each request. */
  private previous: ParsedFields | undefined;

  /** `headerBytes` limits a head, and also trailers. */
  constructor(events: RequestEvents, headerBytes: number) {
    this.events = events;
    this.headerBytes = headerBytes;
  }

  /** Whether a part of a head has arrived. */
  get isInHead(): boolean {
    return this.partial !== undefined;
  }

  /** Bytes of an incomplete head, of an incomplete line of a chunked body, and of trailers. */
  get heldBytes(): number {
    return (this.partial?.length ?? 0) + (this.chunks?.heldBytes ?? 0);
  }

  /** Whether the next byte belongs to a body. */
  get isInBody(): boolean {
    return this.stage === 'body' || this.stage === 'chunks';
  }

  /** Whether a part of a request has arrived. */
  get isInRequest(): boolean {
    return this.partial !== undefined || this.isInBody;
  }

  /** Whether the next head may have the same array of fields as the last one. */
  get keepsFields(): boolean {
    return this.previous !== undefined;
  }

  /** Releases the memory of the previous head. */
  forget(): void {
    this.previous = undefined;
  }

  /** Parses bytes up to the end of a head or a request. Returns the bytes after it. */
  read(bytes: Buffer): Buffer {
    const rest = this.readNext(bytes);
    // An empty part would keep all of the memory that was read, for as long as the connection is idle.
    return rest.length === 0 ? nothing : rest;
  }

  private readNext(bytes: Buffer): Buffer {
    switch (this.stage) {
      case 'head':
        return this.readHead(bytes);
      case 'body':
        return this.readBody(bytes);
      case 'chunks':
        return this.readChunks(bytes);
      case 'over':
        return nothing;
    }
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.stage = 'over';
    this.partial = undefined;
    this.chunks = undefined;
  }

  private readHead(bytes: Buffer): Buffer {
    return this.readRepeated(bytes) ?? this.readNewHead(bytes);
  }

  /** Reads a head with the same fields as the previous one. Returns `undefined` for any other bytes. */
  private readRepeated(bytes: Buffer): Buffer | undefined {
    const { previous } = this;
    if (previous === undefined || this.partial !== undefined) return undefined;
    const text = this.textWithLine(bytes, previous.text.length);
    const endOfLine = text.indexOf('\r\n');
    const length = endOfLine + previous.text.length;
    if (!text.startsWith(previous.text, endOfLine) || length - endOfHead.length > this.headerBytes) return undefined;
    const head = this.withLine(text.slice(0, endOfLine), previous.fields);
    if (head === undefined) return undefined;
    const available = bytes.length - length;
    this.expect(this.events.onHead(head, available));
    return available === 0 ? nothing : bytes.subarray(length);
  }

  /** Returns the text that contains a request line, if there is one, and `fieldBytes` after it. */
  private textWithLine(bytes: Buffer, fieldBytes: number): string {
    const usual = bytes.toString('latin1', 0, Math.min(bytes.length, usualLine + fieldBytes));
    const end = usual.indexOf('\r\n');
    const isEnough = end !== -1 && (end <= usualLine || usual.length === bytes.length);
    return isEnough ? usual : bytes.toString('latin1', 0, Math.min(bytes.length, longestLine + fieldBytes));
  }

  private readNewHead(bytes: Buffer): Buffer {
    const earlier = this.partial?.length ?? 0;
    const all = this.partial === undefined ? bytes : Buffer.concat([this.partial, bytes]);
    const start = emptyLines(all);
    // Earlier bytes are not searched again, except for an end that arrived in pieces.
    const end = all.indexOf(endOfHead, Math.max(start, earlier - endOfHead.length + 1));
    if ((end === -1 ? all.length : end) - start > this.headerBytes) return this.malformed('headers-too-large');
    if (end === -1) return this.keep(all, start, earlier);
    this.partial = undefined;
    const head = this.parseHead(all.toString('latin1', start, end));
    if (head === undefined) return this.malformed('bad-request');
    const rest = all.subarray(end + endOfHead.length);
    this.expect(this.events.onHead(head, rest.length));
    return rest;
  }

  /** Keeps an incomplete head, unless it is already invalid. `earlier` bytes of it were checked before. */
  private keep(all: Buffer, start: number, earlier: number): Buffer {
    // Not the empty lines: any number of them may come.
    this.partial = start === all.length ? undefined : standalone(all.subarray(start));
    const unchecked = all.toString('latin1', Math.max(start, earlier - 1));
    if (neverInHead.test(unchecked)) return this.malformed('bad-request');
    const isStart = all[start] === carriageReturn || startOfHead.test(all.toString('latin1', start, start + 32));
    return this.partial === undefined || isStart ? nothing : this.malformed('bad-request');
  }

  /** Parses the head of a request, as Latin-1 and without the empty line at its end; `undefined` for a syntax error. */
  private parseHead(text: string): RawRequest | undefined {
    const endOfLine = text.indexOf('\r\n');
    const line = endOfLine === -1 ? text : text.slice(0, endOfLine);
    const fields = this.parseFields(text, line.length);
    return fields === undefined ? undefined : this.withLine(line, fields);
  }

  /** Adds the request line to the fields; `undefined` if it is invalid. The same array tells others that the fields are the same. */
  private withLine(line: string, rawHeaders: string[]): RawRequest | undefined {
    if (!requestLine.test(line)) return undefined;
    const first = line.indexOf(' ');
    const method = line.slice(0, first);
    if (!methods.has(method)) return undefined;
    const url = line.slice(first + 1, -' HTTP/1.1'.length);
    return { method, url, httpVersion: line.endsWith('0') ? '1.0' : '1.1', rawHeaders };
  }

  private parseFields(head: string, start: number): string[] | undefined {
    const text = head.slice(start);
    const fields = text.includes('\t') && tabInCoding.test(text) ? undefined : parseFieldLines(text);
    this.previous = fields === undefined || !isKept(head, fields) ? undefined : { text: `${text}\r\n\r\n`, fields };
    return fields;
  }

  private expect(framing: BodyFraming): void {
    if (this.stage === 'over') return;
    if (framing === 'chunked') {
      this.stage = 'chunks';
      this.chunks = new ChunkedBody((data) => this.events.onData(data), this.headerBytes);
    } else if (framing === 'unknown') {
      this.stage = 'over';
    } else if (framing > 0) {
      this.stage = 'body';
      this.remaining = framing;
    }
  }

  private readBody(bytes: Buffer): Buffer {
    const data = bytes.length <= this.remaining ? bytes : bytes.subarray(0, this.remaining);
    this.remaining -= data.length;
    const isEnd = this.remaining === 0;
    if (isEnd) this.stage = 'head';
    this.events.onData(data);
    if (isEnd) this.events.onEnd([]);
    return data.length === bytes.length ? nothing : bytes.subarray(data.length);
  }

  private readChunks(bytes: Buffer): Buffer {
    const end = this.chunks?.read(bytes);
    if (end === undefined) return nothing;
    if (typeof end === 'string') return this.malformed(end === 'too-long' ? 'headers-too-large' : 'bad-request');
    if (framesAgain(end.trailers)) return this.malformed('bad-framing');
    this.chunks = undefined;
    // The callback for data may have stopped the reader.
    if (this.stage !== 'chunks') return nothing;
    this.stage = 'head';
    this.events.onEnd(end.trailers);
    return end.rest;
  }

  private malformed(reason: AnswerReason): Buffer {
    this.stop();
    this.events.onMalformed(reason);
    return nothing;
  }
}

/** Returns the length of the empty lines before a request, which are ignored (RFC 9112 section 2.2). */
function emptyLines(bytes: Buffer): number {
  let length = 0;
  while (bytes[length] === carriageReturn && bytes[length + 1] === lineFeed) length += 2;
  return length;
}

/** Whether trailers contain fields that would frame the body a second time. */
function framesAgain(trailers: Fields): boolean {
  return trailers.some((name, position) => position % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name));
}
