import type { Socket } from 'node:net';
import { monotonicNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { LinkedList } from '../limits/linked-list.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { currentDate } from '../messages/date.ts';
import { frameOf, FrameWriter } from './frame-writer.ts';
import { HpackEncoder } from './hpack/encoder.ts';
import type { Outgoing, OutgoingHead } from './outgoing.ts';
import { frameFlags, frameTypes, initialWindow, maxPayload } from './protocol.ts';

export interface SenderEvents {
  /** Bytes were written to the peer. */
  wrote(bytes: number): void;
  /** The frames of the connection could not be written, because of an unexpected error. */
  failed(error: unknown): void;
  /** The peer does not read the responses to its control frames. */
  unread(): void;
  /** Runs an action of a stream, whose errors end only that stream's exchange. */
  guard(outgoing: Outgoing, action: () => void): void;
}

/** Bytes that are written to a connection before others have their turn. */
const perFlush = 64 * 1024;
/** Control frames that wait because the peer does not read. */
const maxUnread = 1_000;

/**
 * DATA frames with less than `leastData` bytes, although more waits, are limited: a peer with tiny windows would get a
 * frame for each byte (CVE-2019-9511). Beyond the limit, its streams wait until their windows have grown, or for the
 * next interval in milliseconds.
 */
const leastData = 256;
const runtsPerInterval = 16;
const runtInterval = 250;

const writer = new FrameWriter();
/** Senders with frames that wait for the end of the turn of the event loop. */
const due = new LinkedSet<Sender>(Symbol('due'));
/** Milliseconds of one turn. Heads with many fields take half a millisecond each, and can be due on all connections at once. */
const longestFlush = 10;
const turn = new NextTurn(flushDue);

/** Sends the frames of all connections: one write per connection and turn, whatever the number of messages. */
function flushDue(): void {
  const began = monotonicNow();
  // Those that are added meanwhile have the next turn.
  for (let left = due.size; left > 0; left -= 1) {
    due.first?.flush();
    if (monotonicNow() - began > longestFlush) break;
  }
  if (due.size > 0) turn.request();
}

/** Writes the frames of one connection within the windows of its peer (RFC 9113 section 5.2). */
export class Sender {
  /** The peer's window for the connection. */
  window = initialWindow;
  private readonly socket: Socket;
  private readonly events: SenderEvents;
  private readonly encoder = new HpackEncoder();
  private control: Buffer[] = [];
  /** Streams that can send, the next one first. */
  private readonly ready = new LinkedList<Outgoing>();
  /** Streams that wait for the window of the connection. */
  private readonly held = new LinkedList<Outgoing>();
  /** Streams that wait for a larger window, or the next interval. */
  private readonly small = new LinkedList<Outgoing>();
  private runts = runtsPerInterval;
  private runtTimer: NodeJS.Timeout | undefined;
  /** Whether the socket cannot take more. */
  private isBlocked = false;
  private unread = 0;
  private isClosed = false;
  /** Whether something was encoded since the last `forgetUnused`. */
  private hasEncoded = false;
  /** The last head and its bytes: the next one often is the same. */
  private last:
    | { readonly key: OutgoingHead; readonly date: string; readonly generation: number; readonly block: Buffer }
    | undefined;
  /** Streams of which something was sent. */
  private moved = new Set<Outgoing>();

  constructor(socket: Socket, events: SenderEvents) {
    this.socket = socket;
    this.events = events;
  }

  /** The peer permits this size of the header compression table. */
  permitTable(size: number): void {
    this.encoder.permit(size);
  }

  /** Sends bytes that precede all frames: the preface of a client. */
  begin(bytes: Buffer): void {
    this.control.push(bytes);
  }

  /** Sends a frame that is subject to no window. */
  frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (this.isClosed) return;
    this.control.push(frameOf(type, flags, stream, payload));
    if (this.isBlocked) {
      this.unread += 1;
      if (this.unread === maxUnread) this.events.unread();
    }
    this.schedule();
  }

  reset(stream: number, code: number): void {
    this.frame(frameTypes.reset, 0, stream, uint32(code));
  }

  credit(stream: number, bytes: number): void {
    this.frame(frameTypes.windowUpdate, 0, stream, uint32(bytes));
  }

  /** Sends GOAWAY (RFC 9113 section 6.8). `last` is the last stream that is served. */
  goaway(last: number, code: number): void {
    this.frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(last), uint32(code)]));
  }

  /** Something of a stream waits to be sent, or its window has grown. */
  want(outgoing: Outgoing): void {
    if (outgoing.isOver || outgoing.isSent) return;
    if (!outgoing.hasMore && (outgoing.bytes === 0 || outgoing.window <= 0)) return;
    const { place } = outgoing;
    if (place.list === this.small && !outgoing.hasMore && outgoing.window < Math.min(leastData, outgoing.bytes)) return;
    if (place.list !== this.ready) this.ready.append(place);
    this.schedule();
  }

  /** The window of the connection has grown. */
  windowGrew(): void {
    if (this.held.size > 0) this.schedule();
  }

  /** Nothing more of this stream is sent. */
  drop(outgoing: Outgoing): void {
    outgoing.cancel();
    outgoing.place.list?.remove(outgoing.place);
  }

  /** The socket can take more. */
  drained(): void {
    this.isBlocked = false;
    this.unread = 0;
    this.schedule();
  }

  /** Sends nothing more. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.runtTimer);
    due.delete(this);
    for (const outgoings of [this.ready, this.held, this.small]) outgoings.clear();
    this.control = [];
    this.encoder.forget();
  }

  /** Releases the memory that makes the next heads shorter, unless one was sent since the last call. */
  forgetUnused(): void {
    if (!this.hasEncoded) {
      this.last = undefined;
      this.encoder.forget();
    }
    this.hasEncoded = false;
  }

  /** Writes control frames, and as much of the streams as the windows and the socket permit. */
  flush(): void {
    due.delete(this);
    if (this.isClosed || !this.socket.writable) return;
    try {
      this.write();
    } catch (error) {
      writer.discard();
      this.events.failed(error);
      return;
    }
    this.report();
  }

  private write(): void {
    for (const frame of this.control) writer.bytes(frame);
    this.control = [];
    if (!this.isBlocked) this.writeStreams();
    const { size } = writer;
    if (size > 0) {
      if (!writer.flush(this.socket)) this.isBlocked = true;
      this.events.wrote(size);
    }
    if (!this.isBlocked) return;
    for (let place = this.ready.first; place !== undefined; place = place.after) place.value.settle();
  }

  private schedule(): void {
    if (this.isClosed || due.has(this)) return;
    due.add(this);
    turn.request();
  }

  private writeStreams(): void {
    if (this.window > 0) this.makeReady(this.held);
    // A stream that is added again comes after all others.
    for (let place = this.ready.first; place !== undefined; place = this.ready.first) {
      if (writer.size >= perFlush) {
        this.schedule();
        return;
      }
      const outgoing = place.value;
      this.ready.remove(place);
      this.writeStream(outgoing);
      outgoing.progress += 1;
      this.moved.add(outgoing);
    }
  }

  private makeReady(waiting: LinkedList<Outgoing>): void {
    for (let place = waiting.first; place !== undefined; place = waiting.first) this.ready.append(place);
  }

  /** Writes the heads of a stream, at most one DATA frame, and the end if nothing else waits. */
  private writeStream(outgoing: Outgoing): void {
    for (const head of outgoing.takeHeads()) this.writeHead(outgoing, head);
    if (outgoing.bytes > 0 && !outgoing.isSent) {
      this.writeData(outgoing);
      if (outgoing.bytes > 0) return;
    }
    if (outgoing.trailers === undefined || outgoing.isSent) return;
    outgoing.isSent = true;
    if (outgoing.trailers.length > 0)
      writer.section(this.encoded(undefined, outgoing.trailers, ''), outgoing.id, frameFlags.endStream);
    else writer.head(frameTypes.data, frameFlags.endStream, outgoing.id, 0);
  }

  private writeData(outgoing: Outgoing): void {
    const length = Math.min(outgoing.bytes, outgoing.window, this.window, maxPayload);
    if (length <= 0) {
      if (outgoing.window > 0) this.held.append(outgoing.place);
      outgoing.settle();
      return;
    }
    if (length < leastData && length < outgoing.bytes && !this.takeRunt()) {
      this.small.append(outgoing.place);
      outgoing.settle();
      return;
    }
    const isLast = outgoing.isLast(length);
    writer.head(frameTypes.data, isLast ? frameFlags.endStream : 0, outgoing.id, length);
    outgoing.take(length, writer);
    this.window -= length;
    outgoing.isSent = isLast;
    if (outgoing.bytes > 0) this.ready.append(outgoing.place);
  }

  private writeHead(outgoing: Outgoing, head: OutgoingHead): void {
    const isFinal = head.status === undefined || head.status >= 200;
    const endsStream = isFinal && (head.endsStream || (outgoing.bytes === 0 && outgoing.trailers?.length === 0));
    const date = isFinal && !head.hasDate ? currentDate() : '';
    writer.section(this.headBlock(head, date), outgoing.id, endsStream ? frameFlags.endStream : 0);
    if (endsStream) outgoing.isSent = true;
  }

  private headBlock(head: OutgoingHead, date: string): Buffer {
    const { last, encoder } = this;
    this.hasEncoded = true;
    const isSame =
      last?.key.fields === head.fields &&
      last.key.status === head.status &&
      isSamePseudo(last.key.pseudo, head.pseudo) &&
      last.date === date &&
      last.generation === encoder.generation &&
      !encoder.isResizing;
    if (isSame) return last.block;
    const { generation } = encoder;
    const block = this.encoded(head, head.fields, date);
    this.last = undefined;
    if (generation === encoder.generation && block.length < leastData)
      this.last = { key: head, date, generation, block: Buffer.from(block) };
    return block;
  }

  private encoded(head: OutgoingHead | undefined, fields: readonly string[], date: string): Buffer {
    const { encoder } = this;
    this.hasEncoded = true;
    encoder.begin();
    if (head?.status !== undefined) encoder.add(':status', String(head.status));
    if (head?.pseudo !== undefined) this.addFields(head.pseudo);
    this.addFields(fields);
    if (date !== '') encoder.add('date', date);
    return encoder.end();
  }

  private addFields(fields: readonly string[]): void {
    const { encoder } = this;
    for (let position = 0; position < fields.length; position += 2)
      encoder.add(fields[position] ?? '', fields[position + 1] ?? '');
  }

  private takeRunt(): boolean {
    if (this.runtTimer === undefined) {
      this.runts = runtsPerInterval;
      this.runtTimer = setTimeout(this.nextInterval, runtInterval).unref();
    }
    this.runts -= 1;
    return this.runts >= 0;
  }

  private readonly nextInterval = (): void => {
    this.runtTimer = undefined;
    this.makeReady(this.small);
    if (this.ready.size > 0) this.schedule();
  };

  /** Tells the streams what has been sent of them. */
  private report(): void {
    const { moved } = this;
    if (moved.size === 0) return;
    this.moved = new Set();
    for (const outgoing of moved) {
      if (outgoing.isSent) this.events.guard(outgoing, () => outgoing.events.sent());
      else if (outgoing.takeDrained()) this.events.guard(outgoing, () => outgoing.events.drained());
    }
  }
}

function isSamePseudo(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((part, position) => part === other[position]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
