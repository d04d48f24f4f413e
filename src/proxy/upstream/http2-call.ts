import type { Duplex, Readable } from 'node:stream';
import { valueOf } from '../../core/text/fields.ts';
import type { OutgoingHead } from '../frames/outgoing.ts';
import { Buffered } from '../limits/buffered.ts';
import type { Quotas } from '../limits/quota.ts';
import { isBorrowed, owned } from '../limits/read-buffer.ts';
import type {
  Fields,
  ResponseReceiver,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHead,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import { http2Fields, http2RequestFields, isRequestLine, sendableTrailers, Unsendable } from '../messages/sendable.ts';
import type { BackendStream, Sendable, StreamOpener } from './http2-backend-stream.ts';
import { canSwitch, withoutKey, withProof } from './http2-websocket.ts';

/** A request to a backend over HTTP/2. It waits for a connection, and then is a stream of it. */
export class Http2Call implements UpstreamExchange, Sendable {
  readonly client: string;
  readonly unread: Buffered;
  private readonly request: UpstreamRequest;
  private readonly receiver: ResponseReceiver;
  private readonly fault: (error: unknown) => void;
  private stream: BackendStream | undefined;
  private isPaused = false;
  private isOver = false;
  /** Defined while it waits for a connection. */
  leave: (() => void) | undefined;

  /** `fault` receives unexpected errors, after which the request has failed. */
  constructor(
    request: UpstreamRequest,
    receiver: ResponseReceiver,
    { fault, quotas }: { readonly fault: (error: unknown) => void; readonly quotas: Pick<Quotas, 'buffered'> },
  ) {
    this.fault = fault;
    this.client = request.client;
    this.unread = new Buffered(quotas.buffered, request.client);
    this.request = request;
    this.receiver = receiver;
  }

  begin(connection: StreamOpener): BackendStream | undefined {
    let stream: BackendStream | undefined;
    this.guard(() => {
      const { method, upgrade } = this.request;
      if (upgrade !== undefined && !(connection.takesWebSockets && canSwitch(this.request))) {
        this.fail('upgrade');
        return;
      }
      this.receiver.onConnected();
      const head = this.head();
      if (this.isOver) return;
      stream = connection.open(this, { method, isSwitch: upgrade !== undefined });
      this.stream = stream;
      this.send(stream, head);
    });
    return stream;
  }

  abort(): void {
    this.end();
  }

  pause(): void {
    this.isPaused = true;
    this.stream?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.stream?.resume();
  }

  fail(failure: UpstreamFailure): void {
    if (this.isOver) return;
    this.end();
    this.receiver.onFailure(failure);
  }

  inform(status: number, fields: Fields): void {
    if (!this.isOver) this.receiver.onInformation(status, fields);
  }

  answer(head: UpstreamHead): void {
    if (!this.isOver) this.receiver.onHead(head);
  }

  data(chunk: Buffer): void {
    const { receiver } = this;
    if (this.isOver) return;
    if (receiver.onBorrowed !== undefined && isBorrowed(chunk)) receiver.onBorrowed(chunk);
    else receiver.onData(owned(chunk));
  }

  settled(): void {
    this.receiver.settled?.();
  }

  drained(): void {
    if (this.isOver) return;
    const { sending, body } = this.request;
    sending?.(this.stream?.outgoing.bytes ?? 0, 0);
    body?.resume();
  }

  ended(trailers: Fields): void {
    if (this.isOver) return;
    this.end();
    this.receiver.onEnd(trailers);
  }

  switched(head: UpstreamHead, tunnel: Duplex): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unread.close();
    const { fields, ...rest } = head;
    if (this.receiver.onSwitch === undefined) tunnel.destroy();
    else this.receiver.onSwitch({ ...rest, fields: withProof(fields, this.request.fields) }, tunnel);
  }

  /** The head of the request (RFC 9113 section 8.3.1; RFC 8441 section 4). @throws Unsendable */
  private head(): OutgoingHead {
    const { method, target, fields, upstream, upgrade, body, content } = this.request;
    if (!isRequestLine(method, target)) throw new Unsendable('request line');
    const switches = upgrade !== undefined;
    const sent = http2RequestFields(fields);
    const authority = valueOf(fields, 'host');
    const pseudo = [
      ':method',
      switches ? 'CONNECT' : method,
      ':scheme',
      upstream.tls === undefined ? 'http' : 'https',
      ':path',
      target,
    ];
    if (authority !== undefined) pseudo.push(':authority', authority);
    if (switches) pseudo.push(':protocol', 'websocket');
    return {
      status: undefined,
      pseudo,
      fields: switches ? withoutKey(sent) : sent,
      hasDate: true,
      endsStream: body === undefined && content === undefined && !switches,
    };
  }

  private send(stream: BackendStream, head: OutgoingHead): void {
    const { body, content, upgrade, sending } = this.request;
    stream.outgoing.heads.push(head);
    if (this.isPaused) stream.pause();
    if (content !== undefined) {
      this.request.content = undefined;
      stream.send(content);
      stream.endRequest(this.trailers());
      sending?.(stream.outgoing.bytes, content.length);
    } else if (body !== undefined) {
      stream.flushHead();
      this.sendBody(body, stream);
    } else if (upgrade === undefined) stream.endRequest([]);
    else stream.flushHead();
  }

  private sendBody(body: Readable, stream: BackendStream): void {
    body.on('data', (piece: Buffer) =>
      this.guard(() => {
        if (this.isOver) return;
        if (!stream.send(piece)) body.pause();
        this.request.sending?.(stream.outgoing.bytes, piece.length);
      }),
    );
    body.on('end', () =>
      this.guard(() => {
        if (!this.isOver) stream.endRequest(this.trailers());
      }),
    );
    body.on('error', () => this.guard(() => this.fail('reset')));
  }

  private trailers(): Fields {
    const trailers = this.request.trailers?.() ?? [];
    return trailers.length === 0 ? trailers : http2Fields(sendableTrailers(trailers));
  }

  /** Runs an action: an unexpected error fails the request. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof Unsendable)) this.fault(error);
      this.fail('protocol');
    }
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unread.close();
    this.leave?.();
    if (this.request.body?.readableEnded === false) this.request.body.destroy();
    this.stream?.letGo();
  }
}
