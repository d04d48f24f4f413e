import { memoryOf } from '../limits/field-memory.ts';
import { standalone } from '../limits/buffered.ts';
import { LinkedNode } from '../limits/linked-list.ts';
import type { FrameWriter } from './frame-writer.ts';

/** A head that waits to be sent: names in lower case and values. */
export interface OutgoingHead {
  /** The status of a response. A request has other pseudo-header fields instead. */
  readonly status: number | undefined;
  /** The pseudo-header fields of a request: names and values. */
  readonly pseudo?: readonly string[];
  readonly fields: readonly string[];
  readonly hasDate: boolean;
  /** Whether no body and no trailers follow. */
  readonly endsStream: boolean;
}

export interface OutgoingEvents {
  /** Nothing of the body waits any more, after some did. */
  drained(): void;
  /** The end of the stream was passed to the connection. */
  sent(): void;
}

/** At this number of waiting bytes, the sender should wait. */
const full = 64 * 1024;

/** What waits to be sent on one stream, in the order of a message (RFC 9113 section 8.1). */
export class Outgoing {
  readonly id: number;
  /** Among the streams of the connection that have something to send. */
  readonly place = new LinkedNode<Outgoing>(this);
  readonly events: OutgoingEvents;
  /** The peer's window for this stream (RFC 9113 section 6.9.2). It can be negative. */
  window: number;
  /** The initial window that `window` began with, or has followed. */
  private initialWindow: number;
  /** Waiting bytes of the body. */
  bytes = 0;
  heads: OutgoingHead[] = [];
  /** Memory of the waiting heads that were added by `addHead`. */
  private headMemory = 0;
  /** Set at the end of the body. */
  trailers: readonly string[] | undefined;
  /** Whether the end of the stream was passed to the connection. */
  isSent = false;
  /** Whether nothing more is sent, because the stream was reset. */
  isOver = false;
  /** Increases with everything that is sent. */
  progress = 0;
  private chunks: Buffer[] = [];
  /** The next chunk, and the bytes of it that were sent. */
  private next = 0;
  private offset = 0;
  /** The number of chunks that keep no larger memory. */
  private settled = 0;
  private isFull = false;
  /** Whether `drained` is due when nothing waits any more. */
  private isWaiting = false;

  constructor(id: number, window: number, events: OutgoingEvents) {
    this.id = id;
    this.window = window;
    this.initialWindow = window;
    this.events = events;
  }

  /** The peer has changed the initial window, which changes this one by as much. Returns whether it has grown. */
  resize(initialWindow: number): boolean {
    const change = initialWindow - this.initialWindow;
    this.initialWindow = initialWindow;
    this.window += change;
    return change > 0;
  }

  /** Adds a piece of the body. Returns `false` if the sender should wait for `drained`. */
  add(chunk: Buffer): boolean {
    if (chunk.length === 0 || this.isOver) return true;
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.isWaiting = true;
    if (this.bytes > full) this.isFull = true;
    return !this.isFull;
  }

  /** Adds the head of a response, which counts as waiting. The head of a request counts until its response is over, wherever it is. */
  addHead(head: OutgoingHead): void {
    this.heads.push(head);
    this.headMemory += memoryOf(head.fields);
    this.isWaiting = true;
  }

  /** Removes and returns the waiting heads. */
  takeHeads(): readonly OutgoingHead[] {
    const { heads } = this;
    if (heads.length > 0) this.heads = [];
    this.headMemory = 0;
    return heads;
  }

  /** Bytes of the body, and memory of the heads and the trailers, that wait. */
  get waitingBytes(): number {
    const trailers = this.trailers === undefined || this.isSent ? 0 : memoryOf(this.trailers);
    return this.bytes + this.headMemory + trailers;
  }

  /** Whether there is something besides the body to send. */
  get hasMore(): boolean {
    return this.heads.length > 0 || (this.bytes === 0 && this.trailers !== undefined && !this.isSent);
  }

  /** Whether `length` bytes complete the body, and no trailers follow. */
  isLast(length: number): boolean {
    return length === this.bytes && this.trailers?.length === 0;
  }

  /** Moves bytes of the body to the writer. */
  take(length: number, writer: FrameWriter): void {
    let left = length;
    while (left > 0) {
      const chunk = this.chunks[this.next];
      if (chunk === undefined) break;
      const end = Math.min(chunk.length, this.offset + left);
      writer.bytes(this.offset === 0 && end === chunk.length ? chunk : chunk.subarray(this.offset, end));
      left -= end - this.offset;
      this.offset = end === chunk.length ? 0 : end;
      if (this.offset === 0) this.advance();
    }
    this.bytes -= length;
    this.window -= length;
  }

  /** Whether nothing waits any more. Whoever has sent it may have counted it as waiting, or waits for room. */
  takeDrained(): boolean {
    if (!this.isWaiting || this.bytes > 0) return false;
    this.isFull = false;
    this.isWaiting = false;
    return true;
  }

  /** The rest waits for longer: it must not keep the reads that its chunks are parts of. */
  settle(): void {
    for (; this.settled < this.chunks.length; this.settled += 1) {
      const chunk = this.chunks[this.settled];
      if (chunk !== undefined) this.chunks[this.settled] = standalone(chunk);
    }
  }

  /** Drops everything. */
  cancel(): void {
    this.isOver = true;
    this.takeHeads();
    this.trailers = undefined;
    this.chunks = [];
    this.next = 0;
    this.settled = 0;
    this.bytes = 0;
  }

  private advance(): void {
    this.chunks[this.next] = Buffer.alloc(0);
    this.next += 1;
    if (this.next < this.chunks.length) return;
    this.chunks = [];
    this.next = 0;
    this.settled = 0;
  }
}
