import type { Duplex, Readable } from 'node:stream';
import { hasField, withoutField } from '../../core/text/fields.ts';
import type { Fields } from '../../core/text/fields.ts';
import type { Exchange } from '../handling/exchange.ts';
import { ClientBody } from '../messages/client-body.ts';
import { standalone } from '../limits/buffered.ts';
import type { ClientStream } from '../messages/client-stream.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { RequestHead } from '../messages/request-head.ts';
import {
  hasNoContent,
  http2Fields,
  http2Head,
  interimFields,
  sendableTrailers,
  switchFields,
} from '../messages/sendable.ts';
import type { FrameStream } from '../frames/frame-receiver.ts';
import { Http2Tunnel } from '../frames/http2-tunnel.ts';
import { Outgoing } from '../frames/outgoing.ts';
import { errorCodes } from '../frames/protocol.ts';
import { ReceiveWindow } from '../frames/receive-window.ts';
import type { Sender } from '../frames/sender.ts';

/**
 * Bytes, and overhead of each piece, that a client may send before its WebSocket is open. Clients must wait until then
 * (RFC 6455 section 4.1). Nobody reads these bytes yet.
 */
const earlyBytes = 4 * 1024;
const perEarlyPiece = 512;

const continueStatus = 100;
const okStatus = 200;

/** The connection of a stream. */
export interface StreamCarrier {
  readonly sender: Sender;
  /** Resets a stream. */
  resetStream(stream: Http2Stream, code: number): void;
  /** The response is complete. */
  responseSent(stream: Http2Stream): void;
}

/** The parts of a request that its connection has read. */
export interface ReceivedRequest {
  readonly id: number;
  /** As sent, also for requests with an invalid head. */
  readonly method: string;
  readonly head: RequestHead | AnswerReason;
  readonly upgrade: string | undefined;
  readonly awaitsContinue: boolean;
  /** Content-Length. */
  readonly bodyLength: number | undefined;
}

/** A request on an HTTP/2 connection, i.e. one stream (RFC 9113 section 8.1). */
export class Http2Stream implements ClientStream, FrameStream {
  readonly id: number;
  readonly method: string;
  readonly upgrade: string | undefined;
  readonly outgoing: Outgoing;
  /** Set by the connection, at once. */
  exchange: Exchange | undefined;
  /** Its head has opened the stream. */
  readonly awaitsHead = false;
  /** Whether the complete request has arrived. */
  isComplete = false;
  trailers: Fields = [];
  /** The whole body, if it has arrived with the head. */
  private content: Buffer | undefined;
  readonly receiveWindow: ReceiveWindow;
  /** The time at which the response was last seen to move, and its progress then. */
  watched = { progress: -1, since: 0 };
  private readonly carrier: StreamCarrier;
  private head: RequestHead | AnswerReason;
  private readonly tunnel: Http2Tunnel | undefined;
  private requestBody: Readable | undefined;
  private awaitsContinue: boolean;
  private sentStatus: number | undefined;
  private hasNoBody = false;
  private isTunnel = false;
  private early = 0;
  private readonly bodyLength: number | undefined;
  private bodyReceived = 0;
  private hasEnded = false;
  /** Whether the exchange is over, and the rest of the request is discarded. */
  isDiscarding = false;

  constructor(
    carrier: StreamCarrier,
    request: ReceivedRequest,
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.carrier = carrier;
    this.id = request.id;
    this.method = request.method;
    this.head = request.head;
    this.upgrade = request.upgrade;
    this.awaitsContinue = request.awaitsContinue;
    this.bodyLength = request.bodyLength;
    this.receiveWindow = new ReceiveWindow(windows.receive);
    this.outgoing = new Outgoing(request.id, windows.send, {
      drained: () => this.drained(),
      sent: () => this.sent(),
    });
    if (request.upgrade !== undefined) this.tunnel = this.createTunnel();
  }

  takeHead(): RequestHead | AnswerReason {
    const { head } = this;
    // The response to a rejected request may wait for the client, and must not keep its head.
    this.head = 'overloaded';
    return head;
  }

  switchProtocol(fields: Fields): Duplex {
    const { tunnel } = this;
    if (tunnel === undefined) throw new Error('The request has not asked for another protocol.');
    this.writeHead(okStatus, withoutField(switchFields(fields), 'sec-websocket-accept'));
    this.isTunnel = true;
    this.flushHead();
    return tunnel;
  }

  get body(): Readable {
    this.requestBody ??= this.tunnel ?? this.createBody();
    return this.requestBody;
  }

  takeContent(): Buffer | undefined {
    const { content } = this;
    this.content = undefined;
    return content;
  }

  continue(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.inform(continueStatus, []);
  }

  inform(status: number, fields: Fields): boolean {
    const checked = http2Fields(interimFields(fields));
    if (!this.headSent && !this.outgoing.isOver) {
      this.outgoing.addHead({ status, fields: checked, hasDate: true, endsStream: false });
      this.carrier.sender.want(this.outgoing);
    }
    // The number and size of interim responses are limited.
    return true;
  }

  writeHead(status: number, fields: Fields): void {
    // The client would reset the stream.
    if (this.headSent) throw new Error('The response already has a head.');
    const checked = http2Head(status, fields);
    this.hasNoBody = hasNoContent(this.method, status);
    this.sentStatus = status;
    if (this.outgoing.isOver) return;
    this.outgoing.addHead({
      status,
      fields: checked,
      hasDate: hasField(checked, 'date'),
      endsStream: this.hasNoBody,
    });
  }

  get headSent(): boolean {
    return this.sentStatus !== undefined;
  }

  get status(): number {
    return this.sentStatus ?? 0;
  }

  flushHead(): void {
    this.carrier.sender.want(this.outgoing);
  }

  write(chunk: Buffer): boolean {
    if (this.hasNoBody) return true;
    const hasRoom = this.outgoing.add(chunk);
    this.carrier.sender.want(this.outgoing);
    return hasRoom;
  }

  end(trailers: Fields): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    // Nobody reads the rest of the request, however long the response waits for the client.
    if (!this.isTunnel && !this.isComplete) this.discard();
    const { outgoing } = this;
    // A response without content ends with its head.
    outgoing.trailers = this.hasNoBody || trailers.length === 0 ? [] : http2Fields(sendableTrailers(trailers));
    if (outgoing.isSent) process.nextTick(() => this.exchange?.guard(() => this.carrier.responseSent(this)));
    else this.carrier.sender.want(outgoing);
  }

  get waitingBytes(): number {
    return this.outgoing.waitingBytes;
  }

  get isFinished(): boolean {
    return this.isTunnel || this.isAnswered;
  }

  /** Whether the direction to the client has ended. */
  get isAnswered(): boolean {
    return this.hasEnded && this.outgoing.isSent;
  }

  /** Whether the response has ended, and waits for the client. */
  get isFlushing(): boolean {
    return this.hasEnded && !this.outgoing.isSent && !this.outgoing.isOver;
  }

  breakOff(): void {
    this.carrier.resetStream(this, errorCodes.internalError);
  }

  /** Counts a piece of the body. Returns `false` if the body is longer than its Content-Length (RFC 9113 section 8.1.1). */
  expects(length: number): boolean {
    this.bodyReceived += length;
    return this.bodyLength === undefined || this.bodyReceived <= this.bodyLength;
  }

  /** Whether the body has the length that the request has announced. */
  get isWhole(): boolean {
    return this.bodyLength === undefined || this.bodyReceived === this.bodyLength;
  }

  /** Takes the whole body, if this is it. */
  takeWhole(data: Buffer): boolean {
    if (this.isDiscarding || this.bodyReceived > 0 || data.length !== this.bodyLength) return false;
    this.bodyReceived = data.length;
    this.content = standalone(data);
    return true;
  }

  /** Counts a piece that arrives before the WebSocket is open. Returns `false` if there are too many. */
  mayReceive(length: number): boolean {
    if (!this.isOpening || this.isDiscarding) return true;
    this.early += length + perEarlyPiece;
    return this.early <= earlyBytes;
  }

  /** A piece of the body has arrived. */
  receive(data: Buffer): void {
    this.body.push(this.isOpening ? standalone(data) : data);
  }

  /** The complete request has arrived. */
  receiveEnd(trailers: Fields): void {
    this.isComplete = true;
    this.trailers = trailers;
    if (!this.isDiscarding && this.content === undefined) this.body.push(null);
  }

  /** Lets the client send as much as was read. */
  credit(): void {
    if (this.isComplete || this.outgoing.isOver) return;
    const unread = this.isDiscarding ? 0 : (this.requestBody?.readableLength ?? 0);
    const bytes = this.receiveWindow.credit(unread);
    if (bytes > 0) this.carrier.sender.credit(this.id, bytes);
  }

  /** The rest of the request is not needed. */
  discard(): void {
    this.isDiscarding = true;
    this.requestBody?.resume();
    this.credit();
  }

  /** The stream was reset, or its connection is lost. */
  abort(code: number): void {
    this.isDiscarding = true;
    this.carrier.sender.drop(this.outgoing);
    this.tunnel?.abort(code);
  }

  /** Whether a WebSocket was requested, but is not open yet. */
  private get isOpening(): boolean {
    return this.tunnel !== undefined && !this.isTunnel;
  }

  private createBody(): Readable {
    const content = this.takeContent();
    const body = new ClientBody(() => this.credit());
    if (content === undefined) return body;
    body.push(content);
    body.push(null);
    return body;
  }

  private createTunnel(): Http2Tunnel {
    return new Http2Tunnel({
      wanted: () => this.credit(),
      send: (chunk) => this.write(chunk),
      finish: () => this.end([]),
      reset: (code) => this.carrier.resetStream(this, code),
    });
  }

  private drained(): void {
    if (this.isTunnel) this.tunnel?.drained();
    else this.exchange?.drained();
  }

  private sent(): void {
    if (!this.hasEnded) return;
    // The other direction of a tunnel may go on.
    if (this.isTunnel) this.tunnel?.finished();
    if (!this.isTunnel || this.isComplete) this.carrier.responseSent(this);
  }
}
