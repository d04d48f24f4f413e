import type { Duplex } from 'node:stream';
import { traceLength, traceStart } from '../../channel/trace.ts';

/** Milliseconds for which the first bytes of a trace wait for the rest. */
export const tracePatience = 500;

/** Receives the result for the first bytes of a connection. */
export interface FirstBytesHandlers {
  /** The bytes may be a trace. Returns whether they are: then neither they nor any later ones can be read. */
  readonly isTrace: (bytes: Buffer) => boolean;
  /** The connection has no trace; called at most once. */
  readonly plain: () => void;
}

/**
 * Looks for a trace in the first bytes of a connection before anyone can read them. All other bytes pass unchanged and at once; only
 * those that may begin a trace wait for the rest of it, at most `tracePatience` milliseconds while they are shorter than `traceStart`.
 * Whatever the client does, a complete trace cannot be read.
 *
 * It replaces `push`, through which the bytes come from the system, until the first bytes are known. A `data` listener would come too
 * late, and reading would delay the bytes of servers that send first.
 */
export class FirstBytes {
  private readonly socket: Duplex;
  private readonly handlers: FirstBytesHandlers;
  private readonly push: Duplex['push'];
  private seen: Buffer = Buffer.alloc(0);
  /** How many of the seen bytes can be read. */
  private passed = 0;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = true;

  constructor(socket: Duplex, handlers: FirstBytesHandlers) {
    this.socket = socket;
    this.handlers = handlers;
    this.push = socket.push.bind(socket);
    socket.push = (chunk: unknown) => this.received(chunk);
    socket.once('close', () => this.finish());
    // After a PROXY header, the first bytes may be here already.
    const early: Buffer | null = socket.readableLength === 0 ? null : socket.read();
    if (early !== null) this.takeEarly(early);
  }

  /** Whether the connection may still become a trace. */
  get isUndecided(): boolean {
    return this.isOpen;
  }

  private received(chunk: unknown): boolean {
    if (chunk instanceof Buffer) return this.take(chunk);
    // The end of the connection.
    if (this.isOpen) {
      this.pass();
      this.finishPlain();
    }
    return this.push(chunk);
  }

  private takeEarly(early: Buffer): void {
    this.seen = early;
    const trace = this.judge();
    if (trace === 'yes') return;
    // They return to where they were. They cannot wait: without them, the connection may already have ended.
    this.socket.unshift(early);
    this.passed = early.length;
    if (trace === 'no') this.finishPlain();
  }

  private take(chunk: Buffer): boolean {
    // Bytes after a trace.
    if (!this.isOpen) return true;
    this.seen = this.seen.length === 0 ? chunk : Buffer.concat([this.seen, chunk]);
    const trace = this.judge();
    if (trace === 'yes') return true;
    if (trace === 'maybe') {
      this.wait();
      return true;
    }
    const wantsMore = this.pass();
    this.finishPlain();
    return wantsMore;
  }

  private judge(): 'yes' | 'no' | 'maybe' {
    const { seen } = this;
    const known = Math.min(seen.length, traceStart.length);
    if (seen.compare(traceStart, 0, known, 0, known) !== 0) return 'no';
    if (seen.length < traceLength) return 'maybe';
    if (!this.handlers.isTrace(seen)) return 'no';
    this.finish();
    return 'yes';
  }

  /** Few protocols begin like a trace, but a client may send as little as its first byte, and wait for a response. */
  private wait(): void {
    if (this.seen.length >= traceStart.length) clearTimeout(this.timer);
    else
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.pass();
      }, tracePatience).unref();
  }

  /** Makes all bytes readable. */
  private pass(): boolean {
    const rest = this.seen.subarray(this.passed);
    this.passed = this.seen.length;
    return rest.length === 0 || this.push(rest);
  }

  private finishPlain(): void {
    this.finish();
    this.socket.push = this.push;
    this.handlers.plain();
  }

  private finish(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
  }
}
