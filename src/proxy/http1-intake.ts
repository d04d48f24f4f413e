import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { DataPlane } from './data-plane.ts';
import type { ProxyLimits } from './limits.ts';
import type { Quotas } from './quota.ts';

const endOfBlock = Buffer.from('\r\n\r\n');
/** So many bytes of an end may stand at the end of a piece. */
const most = endOfBlock.length - 1;
const nothing = Buffer.alloc(0);
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/**
 * Hands what a client sends to the HTTP/1 parser, one request at a time: the parser gets the bytes of a request only after
 * the response to the request before it. A client that pipelines (RFC 9112 section 9.3.2) is served in order, and what it
 * sends ahead costs no more than `aheadBytes` and one read: after that the socket is not read until the response is done. Nobody
 * sees then that the client has left. So after `aheadTimeout` what was sent ahead is dropped, and the connection ends with the response.
 */
export class Http1Intake {
  private readonly socket: Socket;
  private readonly parse: (bytes: Buffer) => void;
  private readonly limits: Pick<ProxyLimits, 'aheadBytes' | 'aheadTimeout'>;
  private readonly reached: Quotas['reached'];
  private pauseTimer: NodeJS.Timeout | undefined;
  private isOverdue = false;
  /** What the parser has not got yet. */
  private held: Buffer = nothing;
  /** The last bytes that the parser got of a block that has not ended. */
  private tail = '';
  /** Its response is not done. */
  private request: IncomingMessage | undefined;
  /** Bytes of its body that have not come yet, where its length is known. */
  private remaining = 0;
  private hasPaused = false;
  private isFeeding = false;
  private isStopped = false;

  /** Takes the place of the parser's own listener for data, which `socket` must have. */
  constructor(socket: Socket, { limits, quotas }: Pick<DataPlane, 'limits' | 'quotas'>) {
    this.socket = socket;
    this.limits = limits;
    this.reached = quotas.reached;
    const [parse] = socket.listeners('data');
    this.parse = parse as (bytes: Buffer) => void;
    socket.off('data', this.parse).on('data', this.read).on('drain', this.feed);
  }

  /** Whether everything that has come was handed to the parser. */
  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** The parser has found a request. What follows its body waits for `responseDone`. */
  requestBegun(request: IncomingMessage): void {
    this.request = request;
  }

  /** The body of the request has this many bytes; without a length its end shows in the bytes. */
  expectBody(length: number | undefined): void {
    this.remaining = length ?? 0;
  }

  responseDone(): void {
    this.request = undefined;
    // The response has ended the connection: what follows the request is not served.
    if (!this.socket.writable) this.stop();
    this.endPause();
    if (this.isOverdue) this.socket.destroySoon();
    this.feed();
  }

  /** Throws away what has not been parsed and what still comes. */
  stop(): void {
    this.isStopped = true;
    this.held = nothing;
  }

  /** Leaves the socket to another protocol; returns the bytes that follow the request. */
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
    // Node's parser takes no request while the socket waits for the client to read.
    return this.request === undefined ? !this.socket.writableNeedDrain : !this.request.complete;
  }

  /** The next piece for the parser: no head and no body is followed by anything else in it. */
  private cut(): Buffer {
    const { held } = this;
    const end = this.remaining > 0 ? Math.min(this.remaining, held.length) : this.blockEnd(held);
    this.remaining -= Math.min(this.remaining, end);
    if (end === held.length) {
      this.held = nothing;
      return held;
    }
    this.held = held.subarray(end);
    return held.subarray(0, end);
  }

  /** Behind the first empty line that ends a head or a chunked body, or the end of what there is. */
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

/** How many bytes of empty lines stand before a request; they mean nothing (RFC 9112 section 2.2). */
function blankLength(bytes: Buffer): number {
  let length = 0;
  while (bytes[length] === carriageReturn || bytes[length] === lineFeed) length += 1;
  return length;
}
