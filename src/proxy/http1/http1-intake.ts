import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ChunkRuns } from './chunk-runs.ts';
import type { DataPlane } from '../data-plane.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { Quotas } from '../limits/quota.ts';

const endOfBlock = Buffer.from('\r\n\r\n');
/** Maximum length of an incomplete end of block at the end of a piece. */
const most = endOfBlock.length - 1;
const nothing = Buffer.alloc(0);
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/**
 * Passes the client's bytes to the HTTP/1 parser, one request at a time: the parser gets a request only after the
 * previous response. A client that pipelines (RFC 9112 section 9.3.2) is served in order. Its requests sent ahead take
 * at most `aheadBytes` plus one read: then the socket is not read until the response is done, so a disconnect of the
 * client stays undetected. Therefore bytes sent ahead are dropped after `aheadTimeout`, and the connection ends with
 * the response.
 */
export class Http1Intake {
  private readonly socket: Socket;
  private readonly parse: (bytes: Buffer) => void;
  private readonly limits: Pick<ProxyLimits, 'aheadBytes' | 'aheadTimeout'>;
  private readonly reached: Quotas['reached'];
  private pauseTimer: NodeJS.Timeout | undefined;
  private isOverdue = false;
  /** Bytes that the parser has not got yet. */
  private held: Buffer = nothing;
  /** The last parsed bytes of an incomplete block. */
  private tail = '';
  /** The request whose response is not done. */
  private request: IncomingMessage | undefined;
  /** Bytes of its body that are still to come, if its length is known. */
  private remaining = 0;
  /** The chunks of its body that are still to come. */
  private chunks: ChunkRuns | undefined;
  private hasPaused = false;
  private isFeeding = false;
  private isStopped = false;

  /** Replaces the parser's own `data` listener, which `socket` must have. */
  constructor(socket: Socket, { limits, quotas }: Pick<DataPlane, 'limits' | 'quotas'>) {
    this.socket = socket;
    this.limits = limits;
    this.reached = quotas.reached;
    const [parse] = socket.listeners('data');
    this.parse = parse as (bytes: Buffer) => void;
    socket.off('data', this.parse).on('data', this.read).on('drain', this.feed);
  }

  /** Whether all received bytes were passed to the parser. */
  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** The parser has found a request. Bytes after its body wait for `responseDone`. */
  requestBegun(request: IncomingMessage): void {
    this.request = request;
  }

  /** The body of the request has this many bytes, or comes in chunks; if undefined, its end is found in the bytes. */
  expectBody(length: number | 'chunked' | undefined): void {
    this.remaining = typeof length === 'number' ? length : 0;
    this.chunks = length === 'chunked' ? new ChunkRuns() : undefined;
  }

  responseDone(): void {
    this.request = undefined;
    // The response has ended the connection: bytes after the request are ignored.
    if (!this.socket.writable) this.stop();
    this.endPause();
    if (this.isOverdue) this.socket.destroySoon();
    this.feed();
  }

  /** Discards unparsed and further bytes. */
  stop(): void {
    this.isStopped = true;
    this.held = nothing;
  }

  /** Releases the socket to another protocol; returns the bytes after the request. */
  release(): Buffer {
    const { held } = this;
    this.stop();
    this.socket.off('data', this.read).off('drain', this.feed);
    return held;
  }

  private readonly read = (bytes: Buffer): void => {
    if (this.isStopped) return;
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    this.feed();
  };

  private readonly feed = (): void => {
    if (this.isFeeding) return;
    this.isFeeding = true;
    while (this.held.length > 0 && this.isWanted) this.parse(this.cut());
    this.isFeeding = false;
    if (this.held.length < this.limits.aheadBytes || this.hasPaused) return;
    this.hasPaused = true;
    this.reached('pipelined');
    this.socket.pause();
    this.pauseTimer = setTimeout(this.dropAhead, this.limits.aheadTimeout).unref();
  };

  private readonly dropAhead = (): void => {
    this.isOverdue = true;
    this.reached('pipelined-time');
    this.stop();
    this.endPause();
  };

  private endPause(): void {
    if (!this.hasPaused) return;
    this.hasPaused = false;
    clearTimeout(this.pauseTimer);
    this.socket.resume();
  }

  private get isWanted(): boolean {
    // Node's parser accepts no request while the socket waits for the client to read.
    return this.request === undefined ? !this.socket.writableNeedDrain : !this.request.complete;
  }

  /** Returns the next piece for the parser. It contains nothing after the end of a head or body. */
  private cut(): Buffer {
    const { held } = this;
    if (this.chunks !== undefined) return this.cutChunks(this.chunks);
    const end = this.remaining > 0 ? Math.min(this.remaining, held.length) : this.blockEnd(held);
    this.remaining -= Math.min(this.remaining, end);
    if (end === held.length) {
      this.held = nothing;
      return held;
    }
    this.held = held.subarray(end);
    return held.subarray(0, end);
  }

  private cutChunks(chunks: ChunkRuns): Buffer {
    const { bytes, length } = chunks.next(this.held);
    this.held = length === this.held.length ? nothing : this.held.subarray(length);
    if (chunks.isOver) {
      this.chunks = undefined;
      // The first line of the last chunk begins the block that ends the body.
      this.tail = '\r\n';
    }
    return bytes;
  }

  /** Returns the position after the first empty line, which ends a head or a chunked body, or the end of the bytes. */
  private blockEnd(held: Buffer): number {
    const { tail } = this;
    const across = tail === '' ? -1 : `${tail}${held.toString('latin1', 0, most)}`.indexOf('\r\n\r\n');
    const found = across === -1 ? held.indexOf(endOfBlock, tail === '' ? blankLength(held) : 0) : across - tail.length;
    if (found !== -1 || across !== -1) {
      this.tail = '';
      return found + endOfBlock.length;
    }
    this.tail = `${tail}${held.toString('latin1', Math.max(0, held.length - most))}`.slice(-most);
    return held.length;
  }
}

/** Returns the length of the empty lines before a request, which are ignored (RFC 9112 section 2.2). */
function blankLength(bytes: Buffer): number {
  let length = 0;
  while (bytes[length] === carriageReturn || bytes[length] === lineFeed) length += 1;
  return length;
}
