import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientStream } from '../messages/client-stream.ts';
import { closeGently } from '../messages/connection.ts';
import type { Connection } from '../messages/connection.ts';
import { pairs } from '../../core/text/fields.ts';
import type { Fields } from '../messages/forwarder.ts';
import type { DataPlane } from '../data-plane.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { readHttp1Head } from '../messages/request-head.ts';
import type { RequestHead } from '../messages/request-head.ts';
import { checkHttp1Head, hasNoContent, interimFields, sendableTrailers, switchFields } from '../messages/sendable.ts';

/** Unread request bodies up to this size are discarded to keep the connection. */
const discardable = 64 * 1024;

const resetContent = 205;

/** Up to this number of bytes, copying is cheaper than writing two pieces. */
const longestText = 4 * 1024;

/** A request on an HTTP/1 connection. */
export class Http1Stream implements ClientStream {
  readonly body: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly connection: Connection;
  private readonly plane: Pick<DataPlane, 'limits' | 'quotas'>;
  private head: RequestHead | undefined;
  private awaitsContinue = false;
  private requestedUpgrade: string | undefined;
  private beginTunnel: (() => void) | undefined;
  private isTunnel = false;
  private hasNoBody = false;
  private headWaits = false;
  /** The first piece of the body, which shares the packet of the head, and often is the only one. */
  private held: Buffer | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    plane: Pick<DataPlane, 'limits' | 'quotas'>,
  ) {
    this.body = request;
    this.response = response;
    this.connection = connection;
    this.plane = plane;
  }

  /** The client sends its body only after "100 Continue". */
  awaitContinue(): void {
    this.awaitsContinue = true;
  }

  /** The connection carries no HTTP after this request, and may switch protocols. `begin` is called when it does. */
  offerUpgrade(protocol: string | undefined, begin: () => void): void {
    this.requestedUpgrade = protocol;
    this.beginTunnel = begin;
  }

  get upgrade(): string | undefined {
    return this.requestedUpgrade;
  }

  switchProtocol(fields: Fields): Duplex {
    const { socket } = this.body;
    const head = switchFields(fields);
    head.push('connection', 'upgrade', 'upgrade', this.requestedUpgrade ?? '');
    this.response.writeHead(101, head);
    this.isTunnel = true;
    this.response.flushHeaders();
    this.response.detachSocket(socket);
    this.beginTunnel?.();
    socket.once('close', () => this.response.emit('close'));
    return socket;
  }

  get method(): string {
    return this.body.method ?? '';
  }

  readHead(limits: ProxyLimits): RequestHead | AnswerReason {
    const head = readHttp1Head(this.body, limits);
    if (typeof head !== 'string') this.head = head;
    return head;
  }

  /** Content-Length of the request, or `chunked`; `undefined` if the head is unread. */
  get announcedLength(): number | 'chunked' | undefined {
    return this.head === undefined ? undefined : (this.head.contentLength ?? 'chunked');
  }

  get trailers(): Fields {
    return this.body.rawTrailers;
  }

  get isComplete(): boolean {
    return this.body.complete;
  }

  continue(): void {
    if (!this.awaitsContinue || this.response.headersSent) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  inform(status: number, fields: Fields): boolean {
    // Interim responses are optional. They are omitted if the client or this runtime (Node before 24.18) does not support them.
    if (this.body.httpVersion !== '1.1' || this.response.writeInformation === undefined) return true;
    this.response.writeInformation(status, interimFields(fields));
    const { socket } = this.body;
    if (!socket.writableNeedDrain) return true;
    socket.once('drain', () => this.response.emit('drain'));
    return false;
  }

  writeHead(status: number, fields: string[]): void {
    checkHttp1Head(status, fields);
    this.hasNoBody = hasNoContent(this.method, status);
    // Length 0 tells HTTP/1.1 clients that such a response has no content (RFC 9110 section 15.3.6).
    if (status === resetContent) fields.push('content-length', '0');
    const bodyIsInTheWay = !this.body.complete && !this.canDiscardBody();
    // Node loses bytes that a client sends right after an upgrade request that is not accepted.
    const mustClose = bodyIsInTheWay || this.head?.asksForUpgrade === true || this.connection.isDraining();
    if (mustClose) fields.push('connection', 'close');
    if (bodyIsInTheWay) {
      // Node's server closes with this method after the last byte; the client's further bytes must not cause a reset.
      const { socket } = this.body;
      socket.destroySoon = () => closeGently(socket);
    }
    this.response.writeHead(status, fields);
    this.headWaits = true;
  }

  get headSent(): boolean {
    return this.response.headersSent;
  }

  get status(): number {
    return this.response.statusCode;
  }

  flushHead(): void {
    if (!this.headWaits) return;
    const first = this.takeHeld();
    if (this.response.writableEnded || this.response.destroyed) return;
    if (first === undefined) this.response.flushHeaders();
    else this.response.write(first);
  }

  write(chunk: Buffer): boolean {
    if (this.hasNoBody) return true;
    if (this.headWaits && this.held === undefined) {
      this.held = chunk;
      return true;
    }
    this.flushHead();
    return this.response.write(chunk);
  }

  end(trailers: Fields): void {
    if (trailers.length > 0) this.response.addTrailers(pairs(sendableTrailers(trailers)));
    const last = this.takeHeld();
    // As text it is written in one piece with the head.
    if (last === undefined || last.length > longestText) this.response.end(last);
    else this.response.end(last.toString('latin1'), 'latin1');
    if (this.body.socket.writableLength > 0) this.limitFlush();
  }

  get waitingBytes(): number {
    return this.response.writableLength;
  }

  get isFinished(): boolean {
    return this.isTunnel || this.response.writableFinished;
  }

  breakOff(): void {
    const { socket, httpVersion } = this.body;
    // A response to HTTP/1.0 may end with the connection, so only a reset signals an incomplete one.
    if (httpVersion === '1.0' && this.connection.peer.scheme === 'http') socket.resetAndDestroy();
    else socket.destroy();
  }

  /**
   * Limits the time for a client that does not read. At this point the rest of the exchange is in the socket, and no
   * other timeout applies.
   */
  private limitFlush(): void {
    const timer = setTimeout(() => {
      this.plane.quotas.reached('client-stalled');
      this.breakOff();
    }, this.plane.limits.stallTimeout).unref();
    this.response.once('close', () => clearTimeout(timer));
  }

  private takeHeld(): Buffer | undefined {
    const { held } = this;
    this.headWaits = false;
    this.held = undefined;
    return held;
  }

  private canDiscardBody(): boolean {
    if (this.awaitsContinue) return false;
    const length = this.head === undefined ? undefined : this.head.contentLength;
    return length !== undefined && length <= discardable;
  }
}
