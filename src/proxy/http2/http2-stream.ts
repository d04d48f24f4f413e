import { constants } from 'node:http2';
import type {
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
  ServerStreamResponseOptions,
} from 'node:http2';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ClientStream } from '../messages/client-stream.ts';
import { withoutField } from '../../core/text/fields.ts';
import type { Fields } from '../messages/forwarder.ts';
import { fromRawHeaders } from '../messages/http2-fields.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { readHttp2Head } from '../messages/request-head.ts';
import type { RawRequest, RequestHead } from '../messages/request-head.ts';
import {
  hasNoContent,
  interimFields,
  sendableTrailers,
  switchFields,
  toHttp2Head,
  toHttp2Headers,
} from '../messages/sendable.ts';
import { hostnameKey } from '../../core/text/hostname.ts';

const lingering = 1_000;

/** A request on an HTTP/2 connection, i.e. one stream (RFC 9113 section 8.1). */
export class Http2Stream implements ClientStream {
  readonly body: ServerHttp2Stream;
  readonly upgrade: string | undefined;
  trailers: Fields = [];
  private readonly raw: RawRequest;
  private readonly stallTimeout: number;
  private awaitsContinue: boolean;
  private sentStatus: number | undefined;
  /** The head of the response while it waits for the first piece of the body or the end. */
  private pending: OutgoingHttpHeaders | undefined;
  /** The first piece of the body, which waits with the head and often is the only one. */
  private held: Buffer | undefined;
  private hasNoBody = false;
  private isTunnel = false;
  private ending: Fields = [];

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    limits: ProxyLimits,
  ) {
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

  /** The body is always read as a stream. */
  takeContent(): undefined {
    return undefined;
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
    // No event tells when the connection has sent it; the number and size of interim responses are limited.
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
    // The rest of the request is not needed.
    this.body.resume();
    // A client that does not update its window could otherwise keep the response and its memory forever.
    this.body.setTimeout(this.stallTimeout, () => this.breakOff());
    if (this.hasNoBody) this.stopClient();
  }

  /**
   * Sends a complete response. Waiting for trailers costs one more write to the connection per response, but it keeps
   * Node from ending a stream that must be reset. Only a complete response can do without.
   */
  private respondWhole(): void {
    const { held } = this;
    this.held = undefined;
    // A head with END_STREAM: gRPC distinguishes such a response from one without trailers.
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
   * The response is sent, so the rest of the request is useless (RFC 9113 section 8.1). The client gets a reset a
   * moment later, because a reset overtakes bytes that have not been written to the connection.
   */
  private stopClient(): void {
    if (this.isComplete) return;
    this.body.resume();
    const timer = setTimeout(() => this.body.close(constants.NGHTTP2_NO_ERROR), lingering).unref();
    this.body.once('close', () => clearTimeout(timer));
  }
}

/** Whether a stream requests a WebSocket (RFC 8441 section 4). */
function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers[':method'] === 'CONNECT' && headers[':protocol'] === 'websocket';
}

/** Converts a request to the form of HTTP/1. An `:authority` and a different Host become two Hosts, which are rejected. */
function rawRequest(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): RawRequest {
  const fields = fromRawHeaders(rawHeaders);
  const { ':authority': authority, host } = headers;
  const isOther = authority !== undefined && (host === undefined || hostnameKey(authority) !== hostnameKey(host));
  if (isOther) fields.push('host', authority);
  const common = { httpVersion: '2.0', url: headers[':path'] ?? '', rawHeaders: fields };
  if (!isWebSocket(headers)) return { ...common, method: headers[':method'] ?? '' };
  // RFC 8441 section 5.1: HTTP/2 has no Sec-WebSocket-Key, which HTTP/1.1 requires.
  fields.push('sec-websocket-key', randomBytes(16).toString('base64'));
  return { ...common, method: 'GET' };
}
