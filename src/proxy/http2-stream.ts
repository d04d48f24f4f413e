import { constants } from 'node:http2';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream, ServerStreamResponseOptions } from 'node:http2';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ClientStream } from './client-stream.ts';
import { withoutField } from '../core/text/fields.ts';
import type { Fields } from './forwarder.ts';
import { fromRawHeaders } from './http2-fields.ts';
import type { ProxyLimits } from './limits.ts';
import type { AnswerReason } from './reasons.ts';
import { readHttp2Head } from './request-head.ts';
import type { RawRequest, RequestHead } from './request-head.ts';
import { hasNoContent, interimFields, sendableTrailers, switchFields, toHttp2Head, toHttp2Headers } from './sendable.ts';

const lingering = 1_000;

/** A request on an HTTP/2 connection, which is a stream of its own (RFC 9113 section 8.1). */
export class Http2Stream implements ClientStream {
  readonly body: ServerHttp2Stream;
  readonly upgrade: string | undefined;
  trailers: Fields = [];
  private readonly raw: RawRequest;
  private readonly stallTimeout: number;
  private awaitsContinue: boolean;
  private sentStatus: number | undefined;
  /** The head of the answer while it waits for what comes with it. */
  private pending: OutgoingHttpHeaders | undefined;
  /** The first piece of the body, which waits with the head: often it is the last one, too. */
  private held: Buffer | undefined;
  private hasNoBody = false;
  private isTunnel = false;
  private ending: Fields = [];

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[], limits: ProxyLimits) {
    this.body = stream;
    this.upgrade = isWebSocket(headers) ? 'websocket' : undefined;
    this.raw = rawRequest(headers, rawHeaders);
    this.awaitsContinue = headers.expect?.toLowerCase() === '100-continue';
    this.stallTimeout = limits.stallTimeout;
    stream.on('trailers', (_fields, _flags, raw) => (this.trailers = fromRawHeaders(raw)));
    stream.on('wantTrailers', () => this.sendTrailers());
  }

  switchProtocol(fields: Fields): Duplex {
    const headers = toHttp2Head(constants.HTTP_STATUS_OK, withoutField(switchFields(fields), 'sec-websocket-accept'));
    this.isTunnel = true;
    this.sentStatus = constants.HTTP_STATUS_OK;
    this.body.respond(headers);
    return this.body;
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  readHead(limits: ProxyLimits): RequestHead | AnswerReason {
    const hasNoBody = this.body.endAfterHeaders || this.upgrade !== undefined;
    return readHttp2Head(this.raw, hasNoBody, limits);
  }

  get isComplete(): boolean {
    return this.body.endAfterHeaders || this.body.readableEnded || this.body.state.remoteClose === 1;
  }

  continue(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.inform(constants.HTTP_STATUS_CONTINUE, []);
  }

  inform(status: number, fields: Fields): boolean {
    const headers = toHttp2Headers(interimFields(fields));
    headers[constants.HTTP2_HEADER_STATUS] = status;
    if (!this.headSent && !this.isGone) this.body.additionalHeaders(headers);
    // Nothing tells when the connection has taken it; their number and size have a limit.
    return true;
  }

  writeHead(status: number, fields: Fields): void {
    this.pending = toHttp2Head(status, fields);
    this.sentStatus = status;
    this.hasNoBody = hasNoContent(this.method, status);
  }

  get headSent(): boolean {
    return this.sentStatus !== undefined;
  }

  get status(): number {
    return this.sentStatus ?? 0;
  }

  flushHead(): void {
    this.respond(this.hasNoBody ? { endStream: true } : { waitForTrailers: true });
    const { held } = this;
    this.held = undefined;
    if (held !== undefined && !this.isGone) this.body.write(held);
  }

  write(chunk: Buffer): boolean {
    if (this.hasNoBody) return true;
    if (this.pending !== undefined && this.held === undefined) {
      this.held = chunk;
      return true;
    }
    this.flushHead();
    return this.isGone || this.body.write(chunk);
  }

  end(trailers: Fields): void {
    this.ending = trailers;
    if (this.pending !== undefined && trailers.length === 0) this.respondWhole();
    else this.flushHead();
    if (this.isGone) return;
    this.body.end();
    // Nobody needs the rest of the request.
    this.body.resume();
    // The window of a client that does not read may hold an answer back, and what it holds, for ever.
    this.body.setTimeout(this.stallTimeout, () => this.breakOff());
    if (this.hasNoBody) this.stopClient();
  }

  /**
   * Sends a response that is there as a whole. To wait for trailers means one more write to the connection, for each response. But it keeps
   * Node from ending a stream that is to be reset: nothing but a whole response goes without.
   */
  private respondWhole(): void {
    const { held } = this;
    this.held = undefined;
    // A head that ends the stream by itself: gRPC tells such a response from one without trailers.
    this.hasNoBody ||= held === undefined;
    this.respond({ endStream: this.hasNoBody });
    if (held === undefined || this.isGone) return;
    this.body.once('finish', () => this.stopClient());
    this.body.write(held);
  }

  get waitingBytes(): number {
    return this.body.writableLength;
  }

  get isFinished(): boolean {
    return this.isTunnel || (this.body.writableFinished && !this.body.aborted);
  }

  breakOff(): void {
    this.body.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  private get isGone(): boolean {
    return this.body.closed || this.body.destroyed;
  }

  private respond(options: ServerStreamResponseOptions): void {
    const { pending } = this;
    this.pending = undefined;
    if (pending !== undefined && !this.isGone) this.body.respond(pending, options);
  }

  private sendTrailers(): void {
    if (this.isGone) return;
    this.body.sendTrailers(toHttp2Headers(sendableTrailers(this.ending)));
    this.stopClient();
  }

  /**
   * The answer is out, and what the client is still sending has lost its purpose (RFC 9113 section 8.1). It is told so a
   * moment later: a reset overtakes what has not been written to the connection.
   */
  private stopClient(): void {
    if (this.isComplete) return;
    this.body.resume();
    const timer = setTimeout(() => this.body.close(constants.NGHTTP2_NO_ERROR), lingering).unref();
    this.body.once('close', () => clearTimeout(timer));
  }
}

/** Whether a stream is to become a WebSocket (RFC 8441 section 4). */
function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers[':method'] === 'CONNECT' && headers[':protocol'] === 'websocket';
}

/** A request in the shape of HTTP/1. An `:authority` and a Host that differ make two Hosts, which is refused. */
function rawRequest(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): RawRequest {
  const fields = fromRawHeaders(rawHeaders);
  const { ':authority': authority, host } = headers;
  if (authority !== undefined && authority.toLowerCase() !== host?.toLowerCase()) fields.push('host', authority);
  const common = { httpVersion: '2.0', url: headers[':path'] ?? '', rawHeaders: fields };
  if (!isWebSocket(headers)) return { ...common, method: headers[':method'] ?? '' };
  // RFC 8441 section 5.1: what proves a switch in HTTP/1.1 is not there in HTTP/2.
  fields.push('sec-websocket-key', randomBytes(16).toString('base64'));
  return { ...common, method: 'GET' };
}
