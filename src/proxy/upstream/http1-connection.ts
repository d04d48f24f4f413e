import type { Socket } from 'node:net';
import type {
  Fields,
  ResponseReceiver,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import type { Buffered } from '../limits/buffered.ts';
import { LinkedNode } from '../limits/linked-list.ts';
import { joinShortPieces } from '../sockets/join-pieces.ts';
import type { BackendTurns } from '../sockets/backend-turns.ts';
import { afterClosing } from '../sockets/after-closing.ts';
import { inTurns } from '../sockets/read-in-turns.ts';
import { readInto } from '../sockets/direct.ts';
import { Output } from '../sockets/output.ts';
import { isBorrowed, owned, readBuffer, readPiece } from '../limits/read-buffer.ts';
import { watchForReset } from '../sockets/reset-probe.ts';
import { BodyWriter } from './request-writer.ts';
import type { Persistence, ResponseHead } from './response-head.ts';
import { ResponseReader } from './response-reader.ts';
import type { ResponseEvents } from './response-reader.ts';
import { monotonicNow, turnNow } from '../../time/clock.ts';

/** A request to a backend over HTTP/1.1. It waits for a connection, and then has it exclusively. */
export class Http1Call implements UpstreamExchange {
  readonly request: UpstreamRequest;
  readonly receiver: ResponseReceiver;
  /** The encoded head, until it is sent. */
  private head: string;
  connection: Http1Connection | undefined;
  /** Defined while it waits for a connection. */
  leave: (() => void) | undefined;
  /** Whether the request was aborted. */
  isGivenUp = false;

  constructor(request: UpstreamRequest, receiver: ResponseReceiver, head: string) {
    this.request = request;
    this.receiver = receiver;
    this.head = head;
  }

  get client(): string {
    return this.request.client;
  }

  /** Returns the encoded head, which is not kept: a response can take long. */
  takeHead(): string {
    const { head } = this;
    this.head = '';
    return head;
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
  /** The current request is over or aborted. `freed` or `closed` follows. */
  done(call: Http1Call): void;
  /** The connection can take a request. */
  freed(connection: Http1Connection): void;
  /** The connection is closed, or has switched protocols. */
  closed(connection: Http1Connection): void;
  /** The head or the trailers of a response exceed their limit. */
  exceeded(): void;
  /** Returns a new account for bytes that a connection keeps. */
  account(): Buffered;
  /** An unexpected error in the handling of the connection, which is being closed. */
  fault(error: unknown): void;
}

/** Idle timeout in milliseconds if the backend does not specify one; most backends use 5 s or more. */
const idleDefault = 4_000;
/** The backend's close takes time to arrive. */
const idleMargin = 1_000;
const idleLongest = 600_000;

/** An HTTP/1.1 connection to a backend, which carries one request at a time. */
export class Http1Connection implements ResponseEvents {
  /** Its place among idle connections. */
  readonly place = new LinkedNode<Http1Connection>(this);
  private readonly socket: Socket;
  private readonly output: Output;
  private readonly events: Http1ConnectionEvents;
  private readonly reader: ResponseReader;
  private readonly receivedInTurn: (bytes: number) => void;
  private readonly received: (bytes: Buffer) => void;
  private call: Http1Call | undefined;
  private body: BodyWriter | undefined;
  /** Accounts for an incomplete head, line or trailers, after the first one. */
  private incomplete: Buffered | undefined;
  /** By `monotonicNow`. No request may be sent later, because the backend may be closing the connection. */
  private usableUntil = monotonicNow() + idleDefault;
  private hasRested = false;
  /** Whether a side of the connection has ended. */
  private isOver = false;
  private isPaused = false;
  /** Whether the current request found the connection idle, and nothing has been received since. */
  private mayBeStale = false;
  /** The failure of the current request after the connection was broken off. */
  private failure: UpstreamFailure | undefined;

  /** `socket` is established; `headBytes` limits the head of a response; `turns` are those of the backend. */
  constructor(socket: Socket, headBytes: number, turns: BackendTurns, events: Http1ConnectionEvents) {
    this.socket = socket;
    this.events = events;
    this.reader = new ResponseReader(this, headBytes);
    this.receivedInTurn = inTurns(socket);
    this.output = new Output(socket, this.drained);
    const join = joinShortPieces(socket, turns.of(socket, this.read));
    // Unexpected bytes must not wait until there is another request.
    this.received = (bytes) => (this.call === undefined ? this.read(bytes) : join(bytes));
    socket.on('end', this.end).on('error', ignore).on('close', this.close);
    if (!readInto(socket, readBuffer, (length) => this.received(readPiece(length)))) socket.on('data', this.received);
    // No response is expected yet.
    else if (socket.readableLength > 0) socket.destroy();
    else socket.resume();
  }

  /** Releases memory that would only speed up the next request. */
  forget(): void {
    this.reader.forget();
  }

  /** Whether an idle connection may still be used. */
  isUsable(now: number): boolean {
    return now < this.usableUntil && !this.isOver;
  }

  take(call: Http1Call): void {
    const { request, receiver } = call;
    const head = call.takeHead();
    this.call = call;
    this.mayBeStale = this.hasRested;
    call.connection = this;
    this.reader.expect(request);
    receiver.onConnected();
    if (request.body === undefined) {
      this.send(head, request);
      return;
    }
    // The part of the body that has already arrived shares the packet.
    this.socket.cork();
    setImmediate(() => this.socket.uncork());
    this.socket.write(head);
    this.output.share();
    this.body = new BodyWriter(this.socket, request.body, request, {
      written: () => (this.body = undefined),
      failed: () => this.breakOff('reset'),
    });
    // The backend may not read a large head. Last, because the request ends here if there is no room.
    if (this.socket.writableNeedDrain) request.sending?.(this.socket.writableLength, head.length);
  }

  /** Sends a request whose body, if any, is available. */
  private send(head: string, request: UpstreamRequest): void {
    const { output } = this;
    const { content, sending } = request;
    if (content === undefined) output.write(head);
    else output.writeAround(head, content, '');
    request.content = undefined;
    if (output.waiting > 0) sending?.(output.waiting, output.waiting);
  }

  /** Aborts the current request without further calls. */
  destroy(): void {
    this.letGo();
    this.closeNow();
  }

  private closeNow(): void {
    this.isOver = true;
    this.socket.destroy();
  }

  /** Ends the current request and the connection. */
  breakOff(failure: UpstreamFailure): void {
    this.failure = failure;
    this.reader.stop();
    this.body?.stop();
    this.closeNow();
  }

  pause(): void {
    this.isPaused = true;
    this.socket.pause();
    // A paused socket would not detect a reset until the client has read the earlier bytes.
    watchForReset(this.socket);
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.socket.resume();
  }

  onInformation(status: number, fields: Fields): void {
    this.call?.receiver.onInformation(status, fields);
  }

  onHead(head: ResponseHead): void {
    this.call?.receiver.onHead(head);
  }

  onData(data: Buffer): void {
    const receiver = this.call?.receiver;
    if (receiver?.onBorrowed !== undefined && isBorrowed(data)) receiver.onBorrowed(data);
    else receiver?.onData(owned(data));
  }

  onEnd(trailers: Fields, head: Persistence, rest: Buffer): void {
    // A request that is still being sent, or unexpected bytes, make the connection unusable.
    const isReusable = head.persists && rest.length === 0 && this.body === undefined && !this.isOver;
    const call = this.letGo();
    if (isReusable) this.becomeIdle(head);
    else this.closeNow();
    call?.receiver.onEnd(trailers);
  }

  onSwitch(head: ResponseHead, rest: Buffer): void {
    const call = this.letGo();
    const { socket } = this;
    this.incomplete?.close();
    socket.off('data', this.received).off('end', this.end).off('drain', this.drained).off('close', this.close).pause();
    // Whatever reads the stream now gets the bytes.
    readInto(socket, readBuffer, (length) => socket.push(Buffer.from(readPiece(length))));
    this.events.closed(this);
    if (rest.length > 0) socket.unshift(owned(rest));
    if (call?.receiver.onSwitch === undefined) socket.destroy();
    else call.receiver.onSwitch(head, socket);
  }

  onMalformed(problem: 'broken' | 'too-long'): void {
    if (problem === 'too-long') this.events.exceeded();
    this.breakOff('protocol');
  }

  private becomeIdle({ keepsFor }: Pick<Persistence, 'keepsFor'>): void {
    const idle = keepsFor === undefined ? idleDefault : Math.min(keepsFor * 1_000 - idleMargin, idleLongest);
    this.usableUntil = turnNow() + idle;
    this.hasRested = true;
    this.resume();
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
    this.receivedInTurn(bytes.length);
    try {
      // Unexpected bytes must not be taken for the response to the next request (RFC 9112 section 9.2).
      const { call } = this;
      if (call === undefined) {
        this.closeNow();
        return;
      }
      this.reader.read(bytes);
      this.hold(this.reader.heldBytes);
      call.receiver.settled?.();
    } catch (error) {
      this.fault(error);
    }
  };

  /** Keeps bytes until more of the response arrives. Without room for them, ends the connection. */
  private hold(bytes: number): void {
    if (bytes > 0) this.incomplete ??= this.events.account();
    if (this.incomplete?.update(bytes) === false) this.breakOff('overflow');
  }

  private readonly end = (): void => {
    this.isOver = true;
    try {
      this.reader.end();
    } catch (error) {
      this.fault(error);
    }
    this.closeNow();
  };

  private readonly drained = (): void => {
    try {
      if (this.body === undefined) this.call?.request.sending?.(this.output.waiting, 0);
      else this.body.drained();
    } catch (error) {
      this.fault(error);
    }
  };

  private readonly close = (): void => {
    this.isOver = true;
    this.incomplete?.close();
    if (this.call === undefined) this.closed();
    else afterClosing.add(this.closed);
  };

  private readonly closed = (): void => {
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
  // The close event follows an error.
}
