import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Fields } from '../../core/text/fields.ts';
import { listItems } from '../../core/text/fields.ts';
import type { ClientStream } from '../messages/client-stream.ts';
import type { Connection } from '../messages/connection.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import type { RawRequest, RequestHead } from '../messages/request-head.ts';
import { fieldText, hasNoContent, interimFields, sendableTrailers, switchFields } from '../messages/sendable.ts';
import type { Output } from '../sockets/output.ts';
import { reset } from '../sockets/reset.ts';
import { standalone } from '../limits/buffered.ts';
import { ClientBody } from '../messages/client-body.ts';
import { headText, ResponseText } from './response-text.ts';

/** Unread request bodies up to this size are discarded to keep the connection. */
const discardable = 64 * 1024;

const resetContent = 205;

/** Up to this number of bytes, copying is cheaper than writing two pieces. */
const longestText = 4 * 1024;

/** The connection of a request. */
export interface Carrier {
  readonly socket: Socket;
  readonly output: Output;
  readonly connection: Connection;
  /** Seconds for which the connection may be idle. */
  readonly keepsFor: number;
  /** Whether the connection ends with the current response. */
  readonly isEnding: boolean;
  /** There is room for more of the body. */
  bodyWanted(): void;
  /** The complete response was passed to the connection. */
  responseSent(): void;
}

/** A request on an HTTP/1 connection. */
export class Http1Stream implements ClientStream {
  /** Whether the complete request has arrived. */
  isComplete = false;
  trailers: Fields = [];
  /** Whether the connection ends with this response. */
  isLast = false;
  /** Whether bytes of the request that are still arriving prevent an immediate end of the connection. */
  isInterrupted = false;
  isFinished = false;
  /** The whole body, if it has arrived with the head. It may be borrowed until `keepContent`. */
  content: Buffer | undefined;
  private readonly carrier: Carrier;
  private readonly raw: RawRequest;
  private readonly head: RequestHead | AnswerReason;
  private requestBody: ClientBody | undefined;
  private awaitsContinue = false;
  private requestedUpgrade: string | undefined;
  private beginTunnel: (() => void) | undefined;
  private hasNoBody = false;
  /** The head of the response until it is sent. A response can take long, so it is not kept. */
  private unsentHead = '';
  private hasChunks = false;
  /** 0 before the head. */
  private sentStatus = 0;
  private headWaits = false;
  private hasEnded = false;
  /** The first piece of the body, which shares the packet of the head, and often is the only one. It is sent before `flushHead` returns. */
  private held: Buffer | undefined;

  constructor(carrier: Carrier, raw: RawRequest, head: RequestHead | AnswerReason) {
    this.carrier = carrier;
    this.raw = raw;
    this.head = head;
  }

  /** The complete request has arrived. */
  receiveEnd(trailers: Fields): void {
    this.isComplete = true;
    this.trailers = trailers;
  }

  /** The client sends its body only after "100 Continue". */
  awaitContinue(): void {
    this.awaitsContinue = true;
  }

  /** The connection carries no HTTP after this request, and may switch protocols. `begin` is called when it does. */
  offerUpgrade(protocol: string, begin: () => void): void {
    this.requestedUpgrade = protocol;
    this.beginTunnel = begin;
  }

  get upgrade(): string | undefined {
    return this.requestedUpgrade;
  }

  switchProtocol(fields: Fields): Duplex {
    const { socket, output } = this.carrier;
    const upgrade = `connection: upgrade\r\nupgrade: ${this.requestedUpgrade ?? ''}\r\n`;
    const head = headText(101, switchFields(fields));
    this.sentStatus = 101;
    this.isFinished = true;
    output.write(`${head}${upgrade}\r\n`);
    this.beginTunnel?.();
    return socket;
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  takeHead(): RequestHead | AnswerReason {
    return this.head;
  }

  get body(): ClientBody {
    this.requestBody ??= this.createBody();
    return this.requestBody;
  }

  takeContent(): Buffer | undefined {
    const { content } = this;
    this.content = undefined;
    return content;
  }

  /** Copies a borrowed body that was not taken. */
  keepContent(): void {
    if (this.content !== undefined) this.content = standalone(this.content);
  }

  continue(): void {
    if (!this.awaitsContinue || this.headSent) return;
    this.awaitsContinue = false;
    this.carrier.output.write('HTTP/1.1 100 Continue\r\n\r\n');
  }

  inform(status: number, fields: Fields): boolean {
    const { output } = this.carrier;
    const checked = interimFields(fields);
    // Interim responses are optional, and HTTP/1.0 does not have them.
    if (this.raw.httpVersion !== '1.1') return true;
    output.write(`${headText(status, checked)}\r\n`);
    return !output.isFull;
  }

  writeHead(status: number, received: Fields): void {
    // The client would take it for the response to its next request.
    if (this.headSent) throw new Error('The response already has a head.');
    // Length 0 tells HTTP/1.1 clients that such a response has no content (RFC 9110 section 15.3.6).
    const fields = status === resetContent ? [...received, 'content-length', '0'] : received;
    const text = new ResponseText(status, fields);
    this.hasNoBody = hasNoContent(this.method, status);
    const isOld = this.raw.httpVersion === '1.0';
    const hasEnd = text.hasLength || this.hasNoBody;
    this.isInterrupted = !this.isComplete && !this.canDiscardBody();
    this.isLast = this.isInterrupted || !this.mayPersist() || (isOld && !hasEnd);
    text.frame(hasEnd || isOld ? 'by-itself' : 'chunked', this.isLast ? undefined : this.carrier.keepsFor);
    this.unsentHead = text.head;
    this.hasChunks = text.isChunked;
    this.sentStatus = status;
    this.headWaits = true;
  }

  get headSent(): boolean {
    return this.sentStatus !== 0;
  }

  get status(): number {
    return this.sentStatus;
  }

  flushHead(): void {
    if (!this.headWaits) return;
    const first = this.takeHeld();
    this.send(this.takeUnsentHead(), first);
  }

  writeBorrowed(chunk: Buffer): boolean {
    return this.write(chunk);
  }

  write(chunk: Buffer): boolean {
    if (this.hasNoBody) return true;
    if (!this.headWaits) return this.send('', chunk);
    if (this.held === undefined) {
      this.held = chunk;
      return true;
    }
    this.flushHead();
    return this.send('', chunk);
  }

  end(trailers: Fields): void {
    const { output } = this.carrier;
    if (this.hasEnded) return;
    this.hasEnded = true;
    const head = this.takeUnsentHead();
    const last = this.takeHeld();
    const end = this.isChunked ? `0\r\n${fieldText(sendableTrailers(trailers))}\r\n` : '';
    if (last === undefined || last.length <= longestText) {
      output.writeLast(`${head}${last === undefined ? '' : this.framed(last)}${end}`, this.sent);
      return;
    }
    this.send(head, last);
    output.writeLast(end, this.sent);
  }

  /** Whether the response has ended, and waits for the client. */
  get isFlushing(): boolean {
    return this.hasEnded && !this.isFinished;
  }

  /** Whether the head was sent, and more must follow. */
  get isIncomplete(): boolean {
    return this.headSent && !this.headWaits && !this.hasEnded;
  }

  get waitingBytes(): number {
    return this.carrier.output.waiting;
  }

  breakOff(): void {
    const { socket, connection } = this.carrier;
    // A response to HTTP/1.0 may end with the connection, so only a reset signals an incomplete one.
    if (this.raw.httpVersion === '1.0' && connection.peer.scheme === 'http') reset(socket);
    else socket.destroy();
  }

  private createBody(): ClientBody {
    const body = new ClientBody(() => this.carrier.bodyWanted());
    const content = this.takeContent();
    if (content === undefined) return body;
    body.push(standalone(content));
    body.push(null);
    return body;
  }

  private readonly sent = (): void => {
    this.isFinished = true;
    this.carrier.responseSent();
  };

  private takeUnsentHead(): string {
    const { unsentHead } = this;
    this.unsentHead = '';
    return unsentHead;
  }

  private get isChunked(): boolean {
    return this.hasChunks && !this.hasNoBody;
  }

  /** Writes text and a piece of the body. Returns `false` if the client reads too slowly. */
  private send(text: string, piece: Buffer | undefined): boolean {
    const { output } = this.carrier;
    if (piece === undefined) output.write(text);
    else if (piece.length <= longestText) output.write(`${text}${this.framed(piece)}`);
    else if (this.isChunked) output.writeAround(`${text}${piece.length.toString(16)}\r\n`, piece, '\r\n');
    else output.writeAround(text, piece, '');
    return !output.isFull;
  }

  private framed(piece: Buffer): string {
    const text = piece.toString('latin1');
    return this.isChunked ? `${piece.length.toString(16)}\r\n${text}\r\n` : text;
  }

  private takeHeld(): Buffer | undefined {
    const { held } = this;
    this.headWaits = false;
    this.held = undefined;
    return held;
  }

  private mayPersist(): boolean {
    const { head, carrier } = this;
    if (typeof head === 'string' || carrier.isEnding || carrier.connection.isDraining()) return false;
    // A client that asks for another protocol may already send it.
    if (head.asksForUpgrade) return false;
    const connection = head.header('connection');
    if (connection === undefined) return head.httpVersion === '1.1';
    return head.httpVersion === '1.1'
      ? !listItems(connection).includes('close')
      : listItems(connection).includes('keep-alive');
  }

  private canDiscardBody(): boolean {
    if (this.awaitsContinue || typeof this.head === 'string') return false;
    const length = this.head.contentLength;
    return length !== undefined && length <= discardable;
  }
}
