import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { closeGently } from '../messages/connection.ts';
import type { Limit } from '../counters.ts';
import { FrameReader, frameTypes } from './http2-frames.ts';
import { dataBytesPerWork, headerBytesPerWork, requestWork } from '../listen/input-turns.ts';
import type { InputTurns } from '../listen/input-turns.ts';
import { watchForReset } from '../sockets/reset-probe.ts';
import { monotonicNow } from '../../time/clock.ts';

/** The burst of frames of a kind that a client may send, and the rate per second afterwards. */
interface Allowance {
  readonly limit: Limit;
  readonly burst: number;
  readonly rate: number;
  /** Whether bytes sent to the client allow further frames. */
  readonly isEarned: boolean;
}

export interface IntakeEvents {
  /** The client has sent too many frames of a kind. The session gets no further bytes of it. */
  exceeded(limit: Limit): void;
  /** The client has closed its side, and all earlier bytes were passed on. */
  ended(): void;
}

type Written = (error?: Error | null) => void;

const endStream = 1;
const acknowledgement = 1;

/** By frame type. */
const allowances: Readonly<Record<number, Allowance>> = {
  [frameTypes.data]: { limit: 'http2-empty-data', burst: 1_000, rate: 100, isEarned: false },
  [frameTypes.priority]: { limit: 'http2-priority', burst: 1_000, rate: 100, isEarned: true },
  [frameTypes.reset]: { limit: 'http2-resets', burst: 512, rate: 128, isEarned: false },
  [frameTypes.settings]: { limit: 'http2-settings', burst: 100, rate: 10, isEarned: false },
  [frameTypes.ping]: { limit: 'http2-pings', burst: 1_000, rate: 100, isEarned: true },
  [frameTypes.windowUpdate]: { limit: 'http2-window-updates', burst: 1_000, rate: 100, isEarned: true },
};

/** Frames that a client earns with each write to it, and the bytes that earn one more, because it must update windows. */
const earnedPerWrite = 4;
const bytesPerEarned = 512;

/**
 * Wraps a client's connection for its HTTP/2 session. The bytes are delivered when it is the client's turn, and with a
 * limited number of frames of each kind. Node and nghttp2 emit no events for most frames, and read a connection as long
 * as data arrives.
 */
export class Http2Intake extends Duplex {
  /** The client whose turn is used. */
  readonly client: string;
  private readonly socket: Socket;
  private readonly turns: InputTurns;
  private readonly events: IntakeEvents;
  private readonly reader = new FrameReader((type, length, flags) => this.count(type, length, flags));
  /** Remaining frames of each kind, at `countedAt`. */
  private readonly left: number[] = [];
  private countedAt = monotonicNow();
  private earned = 0;
  /** Received bytes that wait for their turn. */
  private held: Buffer | undefined;
  private exceeded: Limit | undefined;
  private hasEnded = false;
  private isStopped = false;
  private isCorked = false;
  private isOver = false;
  private chunks: Buffer[] = [];
  private written: Written[] = [];

  constructor(socket: Socket, client: string, turns: InputTurns, events: IntakeEvents) {
    super({ allowHalfOpen: true, autoDestroy: false });
    this.socket = socket;
    this.client = client;
    this.turns = turns;
    this.events = events;
    socket
      .on('data', this.arrive)
      .on('end', this.finish)
      .on('close', () => this.destroy());
    watchForReset(socket);
  }

  /** Passes on held bytes up to `budget` of work; returns the work done. */
  feed(budget: number): number {
    const { held } = this;
    if (held === undefined || this.isStopped) return 0;
    const { length, work } = this.reader.read(held, budget);
    this.held = length < held.length ? held.subarray(length) : undefined;
    if (this.exceeded !== undefined) {
      this.stop(this.exceeded);
      return work;
    }
    const bytes = length < held.length ? held.subarray(0, length) : held;
    this.emit('data', bytes);
    if (this.held === undefined && this.hasEnded) this.events.ended();
    else this.proceed();
    return work;
  }

  get isHolding(): boolean {
    return this.held !== undefined && !this.isStopped;
  }

  /** Whether the session has an incomplete request head. */
  get isInHeaderSection(): boolean {
    return this.reader.isInHeaderSection;
  }

  override pause(): this {
    // The session pauses at every write, and usually resumes before more arrives. So the socket is not paused, and
    // `arrive` holds one piece.
    this.isStopped = true;
    return this;
  }

  override resume(): this {
    this.isStopped = false;
    if (this.held === undefined) this.proceed();
    else this.turns.take(this);
    return this;
  }

  override cork(): void {
    this.isCorked = true;
  }

  override uncork(): void {
    this.isCorked = false;
    const { chunks, written } = this;
    const [only] = chunks;
    if (only === undefined) return;
    this.chunks = [];
    this.written = [];
    const bytes = chunks.length === 1 ? only : Buffer.concat(chunks);
    this.earned += earnedPerWrite + bytes.length / bytesPerEarned;
    this.socket.write(bytes, (error) => {
      for (const done of written) done(error);
    });
  }

  override write(chunk: Buffer, ...[encoding, callback]: [(BufferEncoding | Written)?, Written?]): boolean {
    this.chunks.push(chunk);
    this.written.push(callback ?? (encoding as Written));
    if (!this.isCorked) this.uncork();
    return true;
  }

  override end(done: () => void): this {
    this.socket.end(done);
    return this;
  }

  override destroy(): this {
    if (this.isOver) return this;
    this.isOver = true;
    this.held = undefined;
    // Closing immediately would reset the connection, and GOAWAY would be lost.
    if (this.exceeded === undefined) this.socket.destroy();
    else closeGently(this.socket);
    process.nextTick(() => this.emit('close'));
    return this;
  }

  private readonly arrive = (bytes: Buffer): void => {
    if (this.exceeded !== undefined) return;
    this.held = bytes;
    if (!this.isStopped) this.turns.take(this);
    if (this.held !== undefined) this.socket.pause();
  };

  private readonly finish = (): void => {
    this.hasEnded = true;
    // Ending the session here would make its pending writes fail.
    if (this.held === undefined) this.events.ended();
  };

  /** Resumes the socket if the session can take more. */
  private proceed(): void {
    if (this.held === undefined && !this.hasEnded && !this.isStopped) this.socket.resume();
  }

  private stop(limit: Limit): void {
    this.held = undefined;
    this.socket.resume();
    this.events.exceeded(limit);
  }

  private count(type: number, length: number, flags: number): number {
    if (type === frameTypes.headers) return requestWork + length / headerBytesPerWork;
    if (type === frameTypes.continuation) return 1 + length / headerBytesPerWork;
    const allowance = isCounted(type, length, flags) ? allowances[type] : undefined;
    if (allowance !== undefined && !this.spend(type, allowance)) this.exceeded = allowance.limit;
    return 1 + length / dataBytesPerWork;
  }

  private spend(type: number, { burst }: Allowance): boolean {
    let left = (this.left[type] ?? burst) - 1;
    if (left < 0) {
      this.refill();
      left = (this.left[type] ?? burst) - 1;
    }
    this.left[type] = left;
    return left >= 0;
  }

  /** Adds the frames earned by time and writes since the last call. */
  private refill(): void {
    const now = monotonicNow();
    const seconds = (now - this.countedAt) / 1_000;
    for (const [type, left] of this.left.entries()) {
      const allowance = allowances[type];
      if (allowance !== undefined)
        this.left[type] = Math.min(
          allowance.burst,
          left + seconds * allowance.rate + (allowance.isEarned ? this.earned : 0),
        );
    }
    this.countedAt = now;
    this.earned = 0;
  }
}

/** DATA counts if it is empty and does not end a stream, SETTINGS and PING if they are not acknowledgements. */
function isCounted(type: number, length: number, flags: number): boolean {
  if (type === frameTypes.data) return length === 0 && (flags & endStream) === 0;
  return (type !== frameTypes.settings && type !== frameTypes.ping) || (flags & acknowledgement) === 0;
}
