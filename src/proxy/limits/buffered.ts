import type { Readable } from 'node:stream';
import { isBorrowed } from './read-buffer.ts';
import type { SharedQuota } from '../../fairness/shared-quota.ts';

/**
 * Overhead of a piece in bytes besides its length. A buffer of one byte takes more than 200, because it is an object
 * with its own store. Without this overhead a client could use much memory by sending single bytes.
 */
const perPiece = 512;

/** At this number of buffered bytes the sender is paused. Sockets around the buffer may hold as much again. */
const full = 64 * 1024;

/**
 * Accounts for the bytes that wait in one place (for a reader, or for a slow receiver), as a part of all bytes that the
 * data plane buffers for one client. It costs nothing while nothing waits.
 */
export class Buffered {
  private readonly quota: SharedQuota;
  private readonly client: string;
  private readonly spare: number;
  private bytes = 0;
  private pieces = 0;
  private charged = 0;
  private isClosed = false;

  /** `spare`: bytes of the quota that must stay free for others; for optional buffers. */
  constructor(quota: SharedQuota, client: string, spare = 0) {
    this.quota = quota;
    this.client = client;
    this.spare = spare;
  }

  /**
   * Updates the number of waiting bytes. `added` of them, in `pieces`, are new since the last call. Returns `false` if
   * the quota is exceeded.
   */
  update(waiting: number, added = 0, pieces = 1): boolean {
    if (this.isClosed || (waiting === this.bytes && (added === 0 || waiting === 0))) return true;
    const earlier = Math.max(0, waiting - added);
    // Pieces leave in proportion to their bytes. While nothing leaves, they are counted exactly.
    this.pieces = this.bytes === 0 ? 0 : this.pieces * Math.min(1, earlier / this.bytes);
    // Some of the new pieces may have left already.
    if (added > 0) this.pieces += pieces * Math.min(1, waiting / added);
    this.bytes = waiting;
    return this.charge();
  }

  /** Releases the quota. Nothing waits any more. */
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
    return (
      (this.spare === 0 || this.quota.hasRoom(this.client, amount + this.spare)) && this.quota.take(this.client, amount)
    );
  }
}

/** Watches the unread bytes of a stream. Node emits no event for data of a stream that is not read, so `push` is intercepted. */
export class WatchedInput {
  private readonly stream: Readable;
  private readonly buffered: Buffered;
  private readonly overflow: () => void;
  private isOver = false;

  /** `overflow` is called once, on the next tick, if the quota is exceeded. */
  constructor(stream: Readable, buffered: Buffered, overflow: () => void) {
    this.stream = stream;
    this.buffered = buffered;
    this.overflow = overflow;
    const push = stream.push.bind(stream);
    stream.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
      if (this.isOver || !(piece instanceof Buffer)) return push(piece, encoding);
      const wantsMore = push(standalone(piece));
      this.note(piece.length);
      return wantsMore;
    };
    this.note(stream.readableLength);
  }

  /** The reader has taken some bytes. */
  taken(): void {
    if (!this.isOver) this.buffered.update(this.stream.readableLength);
  }

  /** Stops accounting: bytes from now on are discarded, or have another owner. */
  stop(): void {
    this.isOver = true;
    this.buffered.close();
  }

  private note(piece: number): void {
    if (this.isOver || this.buffered.update(this.stream.readableLength, piece)) return;
    this.stop();
    // Avoids reentrancy: the caller of `push` is not done.
    process.nextTick(this.overflow);
  }
}

/** Returns the piece itself, or a copy if it is borrowed, or would retain a much larger read. */
export function standalone(piece: Buffer): Buffer {
  if (piece.length * 2 >= piece.buffer.byteLength && !isBorrowed(piece)) return piece;
  const copy = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(copy);
  return copy;
}
