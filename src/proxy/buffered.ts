import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { SharedQuota } from './quota.ts';

/**
 * Bytes that a piece costs beside its length. A buffer of one byte takes more than 200: it is an object with a store of its own. Without
 * this a client could make much out of little, by sending one byte at a time.
 */
const perPiece = 512;

/** Once so much waits, its sender has been paused. Sockets around it may hold as much again. */
const full = 64 * 1024;

/**
 * The bytes that wait in one place (for a reader, or for a receiver that is slow), as a part of all bytes that wait in the data plane for
 * one client. It costs nothing while nothing waits.
 */
export class Buffered {
  private readonly quota: SharedQuota;
  private readonly client: string;
  private readonly spare: number;
  private bytes = 0;
  private pieces = 0;
  private charged = 0;
  private isClosed = false;

  /** `spare`: bytes that are left to others, by those who can do without. */
  constructor(quota: SharedQuota, client: string, spare = 0) {
    this.quota = quota;
    this.client = client;
    this.spare = spare;
  }

  /** So many bytes wait now, among them what has come since the last time, in pieces. `false` where there is no room for them. */
  update(waiting: number, added = 0, pieces = 1): boolean {
    if (this.isClosed || (waiting === this.bytes && added === 0)) return true;
    const earlier = Math.max(0, waiting - added);
    // What has left took as large a part of the pieces along. While nothing leaves, they are counted exactly.
    this.pieces = this.bytes === 0 ? 0 : this.pieces * Math.min(1, earlier / this.bytes);
    // Some of the new ones may have left already.
    if (added > 0) this.pieces += pieces * Math.min(1, waiting / added);
    this.bytes = waiting;
    return this.charge();
  }

  /** Nothing waits any more, nor ever will. */
  close(): void {
    if (this.charged > 0) this.quota.release(this.client, this.charged);
    this.charged = 0;
    this.isClosed = true;
  }

  private charge(): boolean {
    const cost = this.bytes + Math.ceil(this.pieces) * perPiece + (this.bytes >= full ? full : 0);
    const more = cost - this.charged;
    if (more > 0 && !this.take(more)) return false;
    if (more < 0) this.quota.release(this.client, -more);
    this.charged = cost;
    return true;
  }

  private take(amount: number): boolean {
    return (this.spare === 0 || this.quota.hasRoom(this.client, amount + this.spare)) && this.quota.take(this.client, amount);
  }
}

/**
 * Watches what waits in a stream for its reader. Node tells nobody what comes for a stream that is not read: only its `push` does.
 */
export class WatchedInput {
  private readonly stream: Readable;
  private readonly buffered: Buffered;
  private readonly overflow: () => void;
  private isOver = false;

  /** `overflow` is told once, and soon, where there is no room for what has come. */
  constructor(stream: Readable, buffered: Buffered, overflow: () => void) {
    this.stream = stream;
    this.buffered = buffered;
    this.overflow = overflow;
    const push = stream.push.bind(stream);
    stream.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
      if (this.isOver || !(piece instanceof Buffer)) return push(piece, encoding);
      // A connection of HTTP/1 that is not read keeps one read at most. Copies of its pieces would cost more than they save.
      const wantsMore = push(stream instanceof IncomingMessage ? piece : standalone(piece));
      this.note(piece.length);
      return wantsMore;
    };
    this.note(stream.readableLength);
  }

  /** The reader has taken something. */
  taken(): void {
    if (!this.isOver) this.buffered.update(this.stream.readableLength);
  }

  /** What comes from now on is thrown away, or somebody else's business. */
  stop(): void {
    this.isOver = true;
    this.buffered.close();
  }

  private note(piece: number): void {
    if (this.isOver || this.buffered.update(this.stream.readableLength, piece)) return;
    this.stop();
    // Whoever pushes is in the middle of something.
    process.nextTick(this.overflow);
  }
}

/** The piece itself, or a copy where it would keep a much larger read in memory of which it is a part. */
export function standalone(piece: Buffer): Buffer {
  if (piece.length * 2 >= piece.buffer.byteLength) return piece;
  const copy = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(copy);
  return copy;
}
