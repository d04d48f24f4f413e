import type { Socket } from 'node:net';
import type { Fields, ResponseReceiver, UpstreamExchange, UpstreamFailure, UpstreamRequest } from './forwarder.ts';
import { readInTurns } from './read-in-turns.ts';
import { watchForReset } from './reset-probe.ts';
import { BodyWriter } from './request-writer.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseReader } from './response-reader.ts';
import type { ResponseEvents } from './response-reader.ts';

/** A request on its way to a backend over HTTP/1.1: first it waits for a connection, which then is all its own. */
export class Http1Call implements UpstreamExchange {
  readonly request: UpstreamRequest;
  readonly receiver: ResponseReceiver;
  /** As it goes out. */
  readonly head: string;
  connection: Http1Connection | undefined;
  /** Set while it waits for a connection. */
  leave: (() => void) | undefined;
  /** Whether nobody waits for it any more. */
  isGivenUp = false;

  constructor(request: UpstreamRequest, receiver: ResponseReceiver, head: string) {
    this.request = request;
    this.receiver = receiver;
    this.head = head;
  }

  get client(): string {
    return this.request.client;
  }

  abort(): void {
    this.isGivenUp = true;
    this.leave?.();
    this.connection?.destroy();
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  fail(failure: UpstreamFailure): void {
    if (!this.isGivenUp) this.receiver.onFailure(failure);
  }
}

export interface Http1ConnectionEvents {
  /** A request that it has taken is over, or nobody waits for it any more. `freed` or `closed` follows. */
  done(call: Http1Call): void;
  /** It can take a request. */
  freed(connection: Http1Connection): void;
  /** It is gone, or belongs to another protocol. */
  closed(connection: Http1Connection): void;
  /** The head or the trailers of a response go beyond their limit. */
  exceeded(): void;
  /** An error that nobody foresaw, in what belongs to a connection; that is being closed. */
  fault(error: unknown): void;
}

/** How long idle connections are kept where the backend says nothing of it, in milliseconds; most keep them for 5 s and longer. */
const idleDefault = 4_000;
/** Closing takes its time to arrive. */
const idleMargin = 1_000;
const idleLongest = 600_000;

/** A connection to a backend over HTTP/1.1, which carries one request at a time. */
export class Http1Connection implements ResponseEvents {
  private readonly socket: Socket;
  private readonly events: Http1ConnectionEvents;
  private readonly reader: ResponseReader;
  private call: Http1Call | undefined;
  private body: BodyWriter | undefined;
  /** By `performance.now()`: no request may be sent afterwards, because the backend may just be closing. */
  private usableUntil = performance.now() + idleDefault;
  private hasRested = false;
  /** Whether the request under way found the connection at rest, and nothing has come back since. */
  private mayBeStale = false;
  /** What it means for the request under way that the connection was broken off. */
  private failure: UpstreamFailure | undefined;

  /** `socket` stands already; `headBytes` is the most that the head of an answer may have. */
  constructor(socket: Socket, headBytes: number, events: Http1ConnectionEvents) {
    this.socket = socket;
    this.events = events;
    this.reader = new ResponseReader(this, headBytes);
    readInTurns(socket);
    socket.on('data', this.read).on('end', this.end).on('drain', this.drained).on('error', ignore).on('close', this.close);
  }

  /** Whether an idle connection may still be used. */
  isUsable(now: number): boolean {
    return now < this.usableUntil && this.stands;
  }

  private get stands(): boolean {
    return this.socket.writable && this.socket.readable;
  }

  take(call: Http1Call): void {
    const { request, receiver, head } = call;
    this.call = call;
    this.mayBeStale = this.hasRested;
    call.connection = this;
    this.reader.expect(request);
    receiver.onConnected();
    if (request.body === undefined) {
      this.socket.write(head, 'latin1');
      return;
    }
    // What has come of the body already shares the packet.
    this.socket.cork();
    setImmediate(() => this.socket.uncork());
    this.socket.write(head, 'latin1');
    this.body = new BodyWriter(this.socket, request.body, request, { written: () => (this.body = undefined), failed: () => this.breakOff('reset') });
  }

  /** Nobody hears of the request under way any more. */
  destroy(): void {
    this.letGo();
    this.socket.destroy();
  }

  /** Ends the request under way, and the connection with it. */
  breakOff(failure: UpstreamFailure): void {
    this.failure = failure;
    this.reader.stop();
    this.body?.stop();
    this.socket.destroy();
  }

  pause(): void {
    this.socket.pause();
    // Nobody reads it now: a reset would not be seen until the client has taken what came before.
    watchForReset(this.socket);
  }

  resume(): void {
    this.socket.resume();
  }

  onInformation(status: number, fields: Fields): void {
    this.call?.receiver.onInformation(status, fields);
  }

  onHead(head: ResponseHead): void {
    this.call?.receiver.onHead(head);
  }

  onData(data: Buffer): void {
    this.call?.receiver.onData(data);
  }

  onEnd(trailers: Fields, head: ResponseHead, rest: Buffer): void {
    // A request that is still being sent, and bytes that nobody asked for, leave nothing that could be relied on.
    const isReusable = head.persists && rest.length === 0 && this.body === undefined && this.stands;
    const call = this.letGo();
    if (isReusable) this.becomeIdle(head);
    else this.socket.destroy();
    call?.receiver.onEnd(trailers);
  }

  onSwitch(head: ResponseHead, rest: Buffer): void {
    const call = this.letGo();
    const { socket } = this;
    socket.off('data', this.read).off('end', this.end).off('drain', this.drained).off('close', this.close).pause();
    this.events.closed(this);
    if (rest.length > 0) socket.unshift(rest);
    if (call?.receiver.onSwitch === undefined) socket.destroy();
    else call.receiver.onSwitch(head, socket);
  }

  onMalformed(problem: 'broken' | 'too-long'): void {
    if (problem === 'too-long') this.events.exceeded();
    this.breakOff('protocol');
  }

  private becomeIdle({ keepsFor }: ResponseHead): void {
    const idle = keepsFor === undefined ? idleDefault : Math.min(keepsFor * 1_000 - idleMargin, idleLongest);
    this.usableUntil = performance.now() + idle;
    this.hasRested = true;
    this.socket.resume();
    this.events.freed(this);
  }

  private letGo(): Http1Call | undefined {
    const { call } = this;
    this.call = undefined;
    this.reader.stop();
    this.body?.stop();
    this.body = undefined;
    if (call !== undefined) {
      call.connection = undefined;
      this.events.done(call);
    }
    return call;
  }

  private readonly read = (bytes: Buffer): void => {
    this.mayBeStale = false;
    try {
      // Nobody asked for it, and it must not be taken for the answer to the next request (RFC 9112 section 9.2).
      if (this.call === undefined) this.socket.destroy();
      else this.reader.read(bytes);
    } catch (error) {
      this.fault(error);
    }
  };

  private readonly end = (): void => {
    try {
      this.reader.end();
    } catch (error) {
      this.fault(error);
    }
    this.socket.destroy();
  };

  private readonly drained = (): void => {
    try {
      this.body?.drained();
    } catch (error) {
      this.fault(error);
    }
  };

  private readonly close = (): void => {
    try {
      this.letGo()?.fail(this.failure ?? (this.mayBeStale ? 'stale' : 'reset'));
      this.events.closed(this);
    } catch (error) {
      this.events.fault(error);
    }
  };

  private fault(error: unknown): void {
    this.events.fault(error);
    this.breakOff('protocol');
  }
}

function ignore(): void {
  // Shows as the close of the connection.
}
