import { ChunkedBody } from '../messages/chunked-body.ts';
import type { Fields } from '../messages/forwarder.ts';
import { isKept } from '../messages/repeated.ts';
import { Held } from '../sockets/held.ts';
import { parseResponseHead } from './response-head.ts';
import type { Persistence, ResponseHead } from './response-head.ts';

const endOfHead = Buffer.from('\r\n\r\n');
const startOfHead = Buffer.from('HTTP/1.');
const nothing = Buffer.alloc(0);

/** The parts of a request that determine how its response is parsed. */
export interface PendingRequest {
  readonly method: string;
  /** The protocol of an upgrade request. */
  readonly upgrade?: string | undefined;
}

/** Callbacks in the order of this list. One of the last three ends each response. */
export interface ResponseEvents {
  onInformation(status: number, fields: Fields): void;
  onHead(head: ResponseHead): void;
  onData(data: Buffer): void;
  /** `head` tells whether the connection can be reused; `rest` contains the bytes after the response. */
  onEnd(trailers: Fields, head: Persistence, rest: Buffer): void;
  /** The connection has switched protocols; `rest` contains the first bytes of the new one. */
  onSwitch(head: ResponseHead, rest: Buffer): void;
  /** The response is not valid HTTP/1, or its head, trailers or a chunk line exceeds its limit (`too-long`). */
  onMalformed(problem: 'broken' | 'too-long'): void;
}

/** Parses the responses on one connection (RFC 9112), one after the other. */
export class ResponseReader {
  private readonly events: ResponseEvents;
  private readonly headBytes: number;
  private pending: PendingRequest | undefined;
  private held = new Held();
  /** Defined while the body is read, which can take long: the fields are not kept. */
  private head: Persistence | undefined;
  private chunks: ChunkedBody | undefined;
  /** The previous head with its end, as text and in bytes. If the next response has the same one, it gets the same object. */
  private previous: { readonly text: string; readonly bytes: number; readonly head: ResponseHead } | undefined;
  /** Remaining bytes of a body that is not chunked; without a length it ends with the connection. */
  private remaining = 0;

  /** `headBytes` limits a head, and also trailers. */
  constructor(events: ResponseEvents, headBytes: number) {
    this.events = events;
    this.headBytes = headBytes;
  }

  /** Bytes of an incomplete head or line, and of incomplete trailers. */
  get heldBytes(): number {
    return this.held.length + (this.chunks?.heldBytes ?? 0);
  }

  /** Prepares for the response to a request that is being sent. */
  expect(pending: PendingRequest): void {
    this.pending = pending;
  }

  /** Releases the memory of the previous head. */
  forget(): void {
    this.previous = undefined;
  }

  /** Ignores all further bytes, without callbacks. */
  stop(): void {
    this.pending = undefined;
  }

  read(bytes: Buffer): void {
    let rest = bytes;
    while (this.pending !== undefined && rest.length > 0)
      rest = this.head === undefined ? this.readHead(rest, this.pending) : this.readBody(rest, this.head);
  }

  /** The backend has closed its side. */
  end(): void {
    if (this.head !== undefined && this.chunks === undefined && this.remaining === Infinity)
      this.complete(this.head, [], nothing);
  }

  private readHead(bytes: Buffer, pending: PendingRequest): Buffer {
    const { previous } = this;
    if (previous !== undefined && this.held.isEmpty && bytes.toString('latin1', 0, previous.bytes) === previous.text)
      return this.take(
        previous.head,
        pending,
        previous.bytes === bytes.length ? nothing : bytes.subarray(previous.bytes),
      );
    const found = this.held.take(bytes, endOfHead, this.headBytes);
    if (found === undefined) return this.held.mayBeginWith(startOfHead) ? nothing : this.malformed('broken');
    if (found === 'too-long') return this.malformed(found);
    const head = this.parseHead(found.text);
    return head === undefined ? this.malformed('broken') : this.take(head, pending, found.rest);
  }

  private take(head: ResponseHead, pending: PendingRequest, rest: Buffer): Buffer {
    if (head.status < 200) return this.inform(head, pending, rest);
    this.head = { persists: head.persists, keepsFor: head.keepsFor };
    this.chunks = undefined;
    this.remaining = bodyLength(pending, head);
    if (head.isChunked && this.remaining > 0) this.chunks = new ChunkedBody((data) => this.pass(data), this.headBytes);
    this.events.onHead(head);
    if (this.remaining > 0) return rest;
    this.complete(head, [], rest);
    return nothing;
  }

  private parseHead(text: string): ResponseHead | undefined {
    const head = parseResponseHead(text);
    const whole = `${text}\r\n\r\n`;
    this.previous =
      head === undefined || !isKept(text, head.fields) ? undefined : { text: whole, bytes: whole.length, head };
    return head;
  }

  private inform(head: ResponseHead, pending: PendingRequest, rest: Buffer): Buffer {
    const { status, fields } = head;
    if (status === 101) {
      if (pending.upgrade === undefined) return this.malformed('broken');
      this.pending = undefined;
      this.events.onSwitch(head, rest);
      return nothing;
    }
    // 100 is not forwarded: the proxy itself decides whether the client may send its body.
    if (status !== 100) this.events.onInformation(status, fields);
    return rest;
  }

  private readBody(bytes: Buffer, head: Persistence): Buffer {
    if (this.chunks !== undefined) {
      const end = this.chunks.read(bytes);
      if (typeof end === 'string') return this.malformed(end);
      if (end !== undefined) this.complete(head, end.trailers, end.rest);
      return nothing;
    }
    const isAll = bytes.length <= this.remaining;
    const data = isAll ? bytes : bytes.subarray(0, this.remaining);
    this.remaining -= data.length;
    this.pass(data);
    if (this.remaining === 0) this.complete(head, [], isAll ? nothing : bytes.subarray(data.length));
    return nothing;
  }

  private pass(data: Buffer): void {
    if (this.pending !== undefined) this.events.onData(data);
  }

  private complete(head: Persistence, trailers: Fields, rest: Buffer): void {
    if (this.pending === undefined) return;
    this.pending = undefined;
    this.head = undefined;
    this.chunks = undefined;
    this.events.onEnd(trailers, head, rest);
  }

  private malformed(problem: 'broken' | 'too-long'): Buffer {
    if (this.pending !== undefined) this.events.onMalformed(problem);
    this.pending = undefined;
    return nothing;
  }
}

/** RFC 9112 section 6.3: 0 for a response that has no body regardless of its fields, `Infinity` for an unknown length. */
function bodyLength({ method }: PendingRequest, { status, contentLength }: ResponseHead): number {
  if (method === 'HEAD' || status === 204 || status === 304) return 0;
  return contentLength ?? Infinity;
}
