import type { Duplex } from 'node:stream';
import type { FrameStream } from '../frames/frame-receiver.ts';
import type { HeaderSection } from '../frames/header-sections.ts';
import { Http2Tunnel } from '../frames/http2-tunnel.ts';
import { Outgoing } from '../frames/outgoing.ts';
import { errorCodes } from '../frames/protocol.ts';
import { ReceiveWindow } from '../frames/receive-window.ts';
import type { Sender } from '../frames/sender.ts';
import { memoryOf } from '../limits/field-memory.ts';
import { standalone } from '../limits/buffered.ts';
import type { Buffered } from '../limits/buffered.ts';
import { owned } from '../limits/read-buffer.ts';
import type { Fields, UpstreamFailure, UpstreamHead } from '../messages/forwarder.ts';
import { longestJoined } from '../sockets/join-pieces.ts';
import { isSwitch } from './http2-websocket.ts';

/** The connection of a stream. */
export interface BackendCarrier {
  readonly sender: Sender;
  /** Resets a stream, unless it is closed. */
  resetStream(stream: BackendStream, code: number): void;
  /** Resets a stream because of an error of the backend. */
  streamError(id: number, code: number): void;
  /** Returns the head of a response. The same object again for the same fields as in the last one. */
  headOf(status: number, fields: Fields): UpstreamHead;
  /** Both directions of a stream have ended. */
  streamEnded(stream: BackendStream): void;
  /** Runs an action of a stream outside an event of the connection: an unexpected error ends only its request. */
  guardStream(stream: BackendStream, action: () => void): void;
}

/** The request of a stream, which gets the response. One of the last three ends it. */
export interface StreamOwner {
  /** The client's address. */
  readonly client: string;
  /** The buffer for received data that cannot be passed on. */
  readonly unread: Buffered;
  inform(status: number, fields: Fields): void;
  answer(head: UpstreamHead): void;
  data(chunk: Buffer): void;
  /** Everything that has arrived so far was passed on. */
  settled(): void;
  /** The backend can take more of the request, whose end may have been sent. */
  drained(): void;
  ended(trailers: Fields): void;
  switched(head: UpstreamHead, tunnel: Duplex): void;
  fail(failure: UpstreamFailure): void;
}

/** What a response may be. */
export interface Asked {
  readonly method: string;
  readonly isSwitch: boolean;
}

const switchingProtocols = 101;

/** A connection as a request sees it. */
export interface StreamOpener {
  /** Whether the backend has enabled extended CONNECT (RFC 8441 section 3). */
  readonly takesWebSockets: boolean;
  /** Opens the next stream. Its head must be sent in the same tick. */
  open(owner: StreamOwner, asked: Asked): BackendStream;
}

/** A request that a connection can send. */
export interface Sendable extends StreamOwner {
  /** Sends the request on a new stream. Returns `undefined` if it cannot be sent. */
  begin(connection: StreamOpener): BackendStream | undefined;
}

/** A stream of a connection to a backend: one request and its response (RFC 9113 section 8.1). */
export class BackendStream implements FrameStream {
  readonly id: number;
  readonly owner: StreamOwner;
  readonly outgoing: Outgoing;
  readonly receiveWindow: ReceiveWindow;
  awaitsHead = true;
  /** Whether the complete response has arrived. */
  isComplete = false;
  /** Whether the stream waits for `settle`. */
  isUnsettled = false;
  /** Whether a piece was passed on before `settle`. Further short ones wait for it. */
  private isJoining = false;
  /** They may be borrowed. */
  private joined: Buffer[] | undefined;
  private readonly carrier: BackendCarrier;
  private readonly asked: Asked;
  private tunnel: Http2Tunnel | undefined;
  /** The announced length of the body. */
  private length: number | undefined;
  private received = 0;
  private isPaused = false;
  private isResuming = false;
  /** Received data that waits for the owner, and the trailers after it. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private trailers: Fields | undefined;
  /** Whether the owner gets nothing more. */
  private isOver = false;

  constructor(
    carrier: BackendCarrier,
    { id, owner, asked }: { readonly id: number; readonly owner: StreamOwner; readonly asked: Asked },
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.carrier = carrier;
    this.id = id;
    this.owner = owner;
    this.asked = asked;
    this.receiveWindow = new ReceiveWindow(windows.receive);
    this.outgoing = new Outgoing(id, windows.send, {
      drained: () => this.drained(),
      sent: () => this.sent(),
    });
  }

  /** A head has arrived: of an interim response, or of the final one. Malformed ones end the request. */
  respond({ status: text, fields, contentLength, problem }: HeaderSection, endsStream: boolean): void {
    const status = Number(text);
    const isInterim = status < 200;
    if (problem === 'too-large') this.carrier.streamError(this.id, errorCodes.enhanceYourCalm);
    else if (problem !== undefined || status === switchingProtocols || (isInterim && endsStream)) this.malformed();
    else if (isInterim) this.inform(status, fields);
    else this.begin(status, { fields, contentLength }, endsStream);
  }

  /** Counts a piece of the body. Returns `false` if the body is longer than it should be (RFC 9113 section 8.1.1). */
  expects(length: number): boolean {
    this.received += length;
    return this.length === undefined || this.received <= this.length;
  }

  /** Whether the body has the length that the response has announced. */
  get isWhole(): boolean {
    return this.length === undefined || this.received === this.length;
  }

  /** A piece of the body has arrived. */
  receive(data: Buffer): void {
    // A client gets each piece in a write of its own, and thousands may have arrived together.
    if (this.isJoining && data.length <= longestJoined) (this.joined ??= []).push(data);
    else {
      this.passJoined();
      this.pass(data);
    }
  }

  /** Everything that arrived together was received. */
  settle(): void {
    this.passJoined();
    this.isJoining = false;
    this.isUnsettled = false;
    if (this.tunnel === undefined) this.owner.settled();
  }

  private passJoined(): void {
    const { joined } = this;
    if (joined === undefined) return;
    this.joined = undefined;
    this.pass(Buffer.concat(joined));
  }

  private pass(data: Buffer): void {
    if (this.tunnel !== undefined) {
      this.isUnsettled = true;
      this.isJoining = true;
      this.tunnel.push(owned(data));
      return;
    }
    if (this.isOver) return;
    if (!this.isPaused && !this.isResuming) {
      this.isUnsettled = true;
      this.isJoining = true;
      this.owner.data(data);
      return;
    }
    this.waiting.push(standalone(data));
    this.waitingBytes += data.length;
    if (!this.owner.unread.update(this.waitingBytes, data.length)) this.owner.fail('overflow');
  }

  /** The complete response has arrived. */
  receiveEnd(trailers: Fields): void {
    this.passJoined();
    this.isComplete = true;
    if (this.tunnel !== undefined) {
      this.tunnel.push(null);
      if (this.outgoing.isSent) this.carrier.streamEnded(this);
      return;
    }
    this.trailers = trailers;
    // The rest of the request is no longer needed. Ending it here would make it look complete.
    if (this.outgoing.isSent) this.carrier.streamEnded(this);
    else this.carrier.resetStream(this, errorCodes.cancel);
    this.isUnsettled = true;
    if (!this.isPaused && !this.isResuming) this.finish(trailers);
    else if (!this.owner.unread.update(this.unreadBytes)) this.owner.fail('overflow');
  }

  /** The data that waits for the owner, and the memory of the trailers after it. */
  private get unreadBytes(): number {
    return this.waitingBytes + memoryOf(this.trailers ?? []);
  }

  /** Lets the backend send as much as was read. */
  credit(): void {
    if (this.isComplete || this.outgoing.isOver) return;
    const bytes = this.receiveWindow.credit(this.tunnel?.readableLength ?? this.waitingBytes);
    if (bytes > 0) this.carrier.sender.credit(this.id, bytes);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.isResuming || (this.waiting.length === 0 && this.trailers === undefined)) return;
    // Later, because the caller may be handling a piece.
    this.isResuming = true;
    process.nextTick(() => {
      this.isResuming = false;
      this.carrier.guardStream(this, () => this.passOn());
    });
  }

  /** The owner gets nothing more. */
  letGo(): void {
    this.isOver = true;
    this.joined = undefined;
    this.waiting = [];
    this.waitingBytes = 0;
    this.carrier.resetStream(this, errorCodes.cancel);
  }

  /** The stream was closed before the end of the response: by the backend, or with its connection. */
  lost(failure: UpstreamFailure, code: number): void {
    this.passJoined();
    if (this.tunnel === undefined) this.owner.fail(failure);
    else this.tunnel.abort(code);
  }

  private inform(status: number, fields: Fields): void {
    this.isUnsettled = true;
    this.owner.inform(status, fields);
  }

  private begin(
    status: number,
    { fields, contentLength }: Pick<HeaderSection, 'fields' | 'contentLength'>,
    endsStream: boolean,
  ): void {
    this.awaitsHead = false;
    const { owner, asked } = this;
    if (asked.isSwitch && isSwitch(status)) {
      this.switch(status, fields);
      if (endsStream) this.receiveEnd([]);
      return;
    }
    const hasNoBody = asked.method === 'HEAD' || status === 204 || status === 304;
    this.length = hasNoBody ? 0 : contentLength;
    if (endsStream && !this.isWhole) {
      this.malformed();
      return;
    }
    this.isUnsettled = true;
    owner.answer(this.carrier.headOf(status, fields));
    // Passed on immediately, so that a response without a body stays a single head.
    if (endsStream && !this.isOver) this.receiveEnd([]);
  }

  private switch(status: number, fields: Fields): void {
    const tunnel = new Http2Tunnel({
      wanted: () => this.credit(),
      send: (chunk) => this.send(chunk),
      finish: () => this.endRequest([]),
      reset: (code) => this.carrier.resetStream(this, code),
    });
    this.tunnel = tunnel;
    this.isOver = true;
    this.owner.switched({ status, fields, httpVersion: '2.0' }, tunnel);
  }

  /** Sends the head of the request. */
  flushHead(): void {
    this.carrier.sender.want(this.outgoing);
  }

  /** Sends a piece of the request. Returns `false` if `drained` follows. */
  send(chunk: Buffer): boolean {
    const hasRoom = this.outgoing.add(chunk);
    this.carrier.sender.want(this.outgoing);
    return hasRoom;
  }

  /** Ends the request. */
  endRequest(trailers: Fields): void {
    this.outgoing.trailers ??= trailers;
    this.carrier.sender.want(this.outgoing);
  }

  /** Passes on what waits, until the owner pauses again. */
  private passOn(): void {
    const { owner, waiting } = this;
    let next = 0;
    for (const chunk of waiting) {
      if (this.isPaused || this.isOver) break;
      next += 1;
      this.waitingBytes -= chunk.length;
      owner.data(chunk);
    }
    if (this.isOver) return;
    this.waiting = waiting.slice(next);
    owner.unread.update(this.unreadBytes);
    this.credit();
    if (this.waiting.length === 0 && !this.isPaused && this.trailers !== undefined) this.finish(this.trailers);
    owner.settled();
  }

  private finish(trailers: Fields): void {
    if (this.isOver) return;
    this.isOver = true;
    this.owner.ended(trailers);
  }

  private malformed(): void {
    this.carrier.streamError(this.id, errorCodes.protocolError);
  }

  private drained(): void {
    if (this.tunnel === undefined) this.owner.drained();
    else this.tunnel.drained();
  }

  private sent(): void {
    if (this.tunnel === undefined) {
      this.owner.drained();
      return;
    }
    this.tunnel.finished();
    if (this.isComplete) this.carrier.streamEnded(this);
  }
}
