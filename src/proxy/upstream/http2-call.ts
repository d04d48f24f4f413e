import { constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { Buffered, WatchedInput } from '../limits/buffered.ts';
import type { Readable } from 'node:stream';
import type {
  Fields,
  ResponseReceiver,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHead,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import { fromRawHeaders } from '../messages/http2-fields.ts';
import { onTruncation } from '../sockets/http2-reset.ts';
import { canSwitch, extendedConnect, isSwitch, withProof } from './http2-websocket.ts';
import type { Quotas } from '../limits/quota.ts';
import { isRequestLine, sendableTrailers, toHttp2Headers, Unsendable } from '../messages/sendable.ts';

const failures: Readonly<Record<number, UpstreamFailure>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'refused',
  [constants.NGHTTP2_PROTOCOL_ERROR]: 'protocol',
};

/** A request to a backend over HTTP/2. It waits for a connection, and then is a stream of it. */
export class Http2Call implements UpstreamExchange {
  private readonly request: UpstreamRequest;
  private readonly receiver: ResponseReceiver;
  private readonly fault: (error: unknown) => void;
  private readonly quotas: Quotas;
  /** Received bytes of the response while it is paused. */
  private unread: WatchedInput | undefined;
  private stream: ClientHttp2Stream | undefined;
  private trailers: Fields = [];
  private isOver = false;
  private isSettling = false;
  /** Defined while it waits for a connection. */
  leave: (() => void) | undefined;

  /** `fault` receives unexpected errors, after which the request has failed. */
  constructor(
    request: UpstreamRequest,
    receiver: ResponseReceiver,
    { fault, quotas }: { readonly fault: (error: unknown) => void; readonly quotas: Quotas },
  ) {
    this.fault = fault;
    this.quotas = quotas;
    this.request = request;
    this.receiver = receiver;
  }

  get client(): string {
    return this.request.client;
  }

  /** Whether the request was aborted. */
  get isGivenUp(): boolean {
    return this.isOver;
  }

  /** Sends the request. `freed` is called when its place on the connection is free again, also if the request could not be sent. */
  begin(session: ClientHttp2Session, freed: () => void): void {
    const { body, content, trailers, upgrade } = this.request;
    const switches = upgrade !== undefined;
    if (switches && !canSwitch(session, this.request)) {
      this.fail('upgrade');
      freed();
      return;
    }
    this.receiver.onConnected();
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(switches ? extendedConnect(this.head()) : this.head(), {
        endStream: body === undefined && content === undefined && !switches,
        waitForTrailers: !switches,
      });
    } catch (error) {
      if (!(error instanceof Unsendable)) this.fault(error);
      this.fail('protocol');
      freed();
      return;
    }
    this.stream = stream;
    this.unread = new WatchedInput(stream, new Buffered(this.quotas.buffered, this.client), () =>
      this.guard(() => this.fail('overflow')),
    );
    stream.on('error', () => undefined);
    stream.on('headers', (head, _flags, raw) => this.guard(() => this.inform(head, raw)));
    stream.on('response', (head, flags, raw) => this.guard(() => this.answer(head, flags, raw)));
    stream.on('data', this.pass);
    stream.on('trailers', (_head, _flags, raw) => (this.trailers = fromRawHeaders(raw)));
    stream.on('wantTrailers', () =>
      this.guard(() => stream.sendTrailers(toHttp2Headers(sendableTrailers(trailers?.() ?? [])))),
    );
    onTruncation(stream, () => this.guard(() => this.fail('reset')));
    stream.on('end', () => {
      // A lost connection ends its streams, too.
      if ((stream.rstCode ?? 0) === constants.NGHTTP2_NO_ERROR) this.guard(() => this.complete());
    });
    stream.on('close', () =>
      this.guard(() => {
        freed();
        this.fail(failures[stream.rstCode ?? 0] ?? 'reset');
      }),
    );
    if (body !== undefined) this.send(body, stream);
    if (content !== undefined) this.sendContent(content, stream);
  }

  private send(body: Readable, stream: ClientHttp2Stream): void {
    body.pipe(stream);
    // Added after the listener of `pipe`, which writes the piece.
    body.on('data', (piece: Buffer) => this.guard(() => this.request.sending?.(stream.writableLength, piece.length)));
    this.watchSending(stream);
  }

  private sendContent(content: Buffer, stream: ClientHttp2Stream): void {
    stream.end(content);
    this.request.content = undefined;
    this.request.sending?.(stream.writableLength, content.length);
    this.watchSending(stream);
  }

  private watchSending(stream: ClientHttp2Stream): void {
    const { sending } = this.request;
    if (sending === undefined) return;
    stream.on('drain', () => this.guard(() => sending(stream.writableLength, 0)));
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fault(error);
      this.fail('protocol');
    }
  }

  private readonly pass = (chunk: Buffer): void => {
    if (this.isOver) return;
    try {
      this.unread?.taken();
      this.receiver.onData(chunk);
      this.settleLater();
    } catch (error) {
      this.fault(error);
      this.fail('protocol');
    }
  };

  /** Node passes on each frame on its own. Those of one read come in the same tick. */
  private settleLater(): void {
    if (this.isSettling) return;
    this.isSettling = true;
    process.nextTick(() => {
      this.isSettling = false;
      this.guard(() => this.receiver.settled?.());
    });
  }

  abort(): void {
    this.end(constants.NGHTTP2_CANCEL);
  }

  pause(): void {
    this.stream?.pause();
  }

  resume(): void {
    this.stream?.resume();
  }

  fail(failure: UpstreamFailure): void {
    if (this.isOver) return;
    this.end(constants.NGHTTP2_CANCEL);
    this.receiver.onFailure(failure);
  }

  private head(): OutgoingHttpHeaders {
    const { method, target, fields, upstream } = this.request;
    if (!isRequestLine(method, target)) throw new Unsendable('request line');
    const { host, ...headers } = toHttp2Headers(fields);
    return {
      ...headers,
      ':method': method,
      ':path': target,
      ':scheme': upstream.tls === undefined ? 'http' : 'https',
      ...(host === undefined ? {} : { ':authority': host }),
    };
  }

  private inform(head: IncomingHttpHeaders, raw: readonly string[]): void {
    if (!this.isOver) this.receiver.onInformation(statusOf(head), fromRawHeaders(raw));
  }

  private answer(head: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    if (this.isOver) return;
    const status = statusOf(head);
    const fields = fromRawHeaders(raw);
    if (this.request.upgrade !== undefined && isSwitch(status)) {
      this.switch({ status, fields: withProof(fields, this.request.fields), httpVersion: '2.0' });
      return;
    }
    this.receiver.onHead({ status, fields, httpVersion: '2.0' });
    this.settleLater();
    // Passed on immediately, so that a response without a body stays a single head.
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.complete();
  }

  /** Passes the stream to the receiver. */
  private switch(head: UpstreamHead): void {
    this.isOver = true;
    this.unread?.stop();
    const { stream, receiver } = this;
    if (stream !== undefined) receiver.onSwitch?.(head, stream);
  }

  private complete(): void {
    if (this.isOver) return;
    // The rest of the request body is no longer needed. Ending it here would make it look complete.
    this.end(this.stream?.writableEnded === false ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_NO_ERROR);
    this.receiver.onEnd(this.trailers);
  }

  private end(code: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unread?.stop();
    this.leave?.();
    const { stream, request } = this;
    if (stream === undefined) return;
    if (request.body?.readableEnded === false) {
      request.body.unpipe(stream);
      request.body.destroy();
    }
    if (code !== constants.NGHTTP2_NO_ERROR) stream.close(code);
    stream.resume();
  }
}

function statusOf(head: IncomingHttpHeaders): number {
  return Number(head[':status'] ?? 0);
}
