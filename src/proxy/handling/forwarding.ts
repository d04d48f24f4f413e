import type { Duplex } from 'node:stream';
import type { Endpoint, EndpointSet } from '../upstream/endpoints.ts';
import { Attempts } from './attempts.ts';
import { clientFields } from './client-fields.ts';
import type { Destination, ForwardedRequest } from './forwarded-request.ts';
import type {
  Fields,
  ResponseReceiver,
  Upstream,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHead,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import { hopsOfCopy, viaEntry } from '../../core/text/via.ts';
import { announcedTrailers, responseFields, trailerFields } from '../messages/forwarding-fields.ts';
import { isSwitch } from '../upstream/http2-websocket.ts';
import { mayUseHttp2 } from '../upstream/protocol-forwarder.ts';
import { forwardedTarget } from '../../core/routing/decision/decide.ts';
import { Buffered } from '../limits/buffered.ts';
import { grpcStatusIn } from '../messages/grpc.ts';
import { InterimResponses } from './interim-responses.ts';
import { Copy, replay } from './mirror-copy.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { isFinalStatus, Unsendable } from '../messages/sendable.ts';
import type { ClientSession } from '../sessions/sessions.ts';
import { Timer } from '../sockets/timer.ts';
import { joinTunnel } from './tunnel.ts';
import { Upload } from './upload.ts';
import { upstreamFields } from './upstream-fields.ts';
import { identityOf, type ClientIdentity } from '../upstream/upstream-identity.ts';

const failureReasons: Readonly<Record<UpstreamFailure, AnswerReason>> = {
  connect: 'connect-failed',
  reset: 'backend-reset',
  stale: 'backend-reset',
  protocol: 'backend-protocol',
  refused: 'backend-refused',
  busy: 'backend-busy',
  upgrade: 'upgrade-unsupported',
  overflow: 'overloaded',
};

const none: readonly Copy[] = [];

const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

/** Forwards one request to an endpoint of its backend, and the response to the client. */
export class Forwarding implements ResponseReceiver {
  readonly exchange: ForwardedRequest;
  private readonly destination: Destination;
  private readonly attempts: Attempts;
  /** The request body, if any. */
  private readonly upload: Upload | undefined;
  /** Bytes that wait for the client. */
  private readonly responding: Buffered;
  /** Bytes of a large head without a body that wait for the backend. */
  private unsent: Buffered | undefined;
  /** Bytes written to the client since the last `settle`. */
  private writtenBytes = 0;
  private writtenPieces = 0;
  private readonly fields: Fields;
  private readonly target: string;
  /** Mirror copies, which get the body as it is read. */
  private readonly copies: readonly Copy[];
  private endpoint: Endpoint | undefined;
  private call: UpstreamExchange | undefined;
  private attemptTimer: Timer | undefined;
  private stallTimer: Timer | undefined;
  private interim: InterimResponses | undefined;
  private trailersPossible = false;
  private ended = false;

  private readonly identity: ClientIdentity;
  private readonly session: ClientSession | undefined;

  constructor(exchange: ForwardedRequest, destination: Destination, endpoints: EndpointSet) {
    this.exchange = exchange;
    this.destination = destination;
    this.identity = identityOf(exchange.plane, destination.listener);
    this.fields = upstreamFields(exchange, destination);
    this.target = forwardedTarget(destination.backend, destination.head, destination.matched);
    this.session = sessionOf(exchange, destination);
    const {
      backend: { endpoints: key },
      rule: { retry },
    } = destination;
    this.attempts = new Attempts(exchange, { key, endpoints, retry, session: this.session }, this);
    this.responding = new Buffered(exchange.plane.quotas.buffered, exchange.address);
    this.copies = this.sendCopies();
    const { body } = destination.permitted;
    if (body !== undefined) replay(body, this.copies);
    this.upload = destination.head.hasBody
      ? new Upload(exchange, { copies: this.copies, held: body ?? [] }, (reason) => this.fail(reason))
      : undefined;
  }

  /** Tries an endpoint that was not tried yet. */
  start(): void {
    const { plane } = this.exchange;
    const endpoint = this.attempts.next();
    if (endpoint === undefined) {
      this.fail('connect-failed');
      return;
    }
    this.endpoint = endpoint;
    this.exchange.upstream = endpoint.address;
    plane.counters.upstreamAttempts += 1;
    const { backendRequestTimeout } = this.destination.rule;
    if (backendRequestTimeout > 0) {
      this.attemptTimer = new Timer(backendRequestTimeout, () => this.exchange.guard(() => this.timedOut()));
    }
    const upstream = endpoint.upstream(this.destination.listener.gateway, this.identity);
    if (this.mayNeedContentAgain(upstream)) this.upload?.keep();
    const request = this.requestTo(upstream);
    const call = plane.forwarder.forward(request, this);
    if (request.content !== undefined) {
      this.upload?.keep();
      request.content = this.upload?.content;
    }
    // Sending may already have exceeded a quota.
    if (this.ended) call.abort();
    else this.call = call;
  }

  /** Aborts a pending call, because the exchange is over. */
  cancel(): void {
    this.attemptTimer?.cancel();
    this.stallTimer?.cancel();
    this.attempts.end();
    this.upload?.stop();
    this.unsent?.close();
    this.responding.close();
    for (const copy of this.copies) copy.cut();
    if (this.ended) return;
    this.ended = true;
    this.call?.abort();
    this.call = undefined;
  }

  /** The client has read the buffered bytes. */
  drained(): void {
    this.stallTimer?.cancel();
    this.responding.update(this.exchange.client.waitingBytes);
    if (!this.ended) this.call?.resume();
  }

  onConnected(): void {
    this.endpoint?.connected();
    if (!this.ended) this.upload?.connected();
  }

  onInformation(status: number, fields: Fields): void {
    if (this.ended) return;
    const { client, plane } = this.exchange;
    this.interim ??= new InterimResponses(plane.limits);
    const verdict = this.interim.take(status, fields);
    if (verdict === 'too-many') plane.counters.limitsReached['interim-responses'] += 1;
    const kept = verdict === 'pass' ? responseFields(fields) : undefined;
    // 100 is not forwarded: the proxy itself decides whether the client may send its body.
    if (verdict === 'ignore') return;
    if (kept === undefined || client.headSent) this.fail('backend-protocol');
    else this.inform(status, kept);
  }

  private inform(status: number, fields: Fields): void {
    let isTaken = true;
    if (!this.canSend(() => (isTaken = this.exchange.client.inform(status, fields)))) this.fail('backend-protocol');
    else if (!isTaken) this.waitForClient();
  }

  onHead(answer: UpstreamHead): void {
    if (this.ended) return;
    const { client } = this.exchange;
    if (this.attempts.mayRepeatAfter(answer.status) && this.mayBeginAgain()) {
      this.tryLater();
      return;
    }
    if (this.looksLikeSwitch(answer)) {
      this.fail('upgrade-unsupported');
      return;
    }
    const head = isFinalStatus(answer.status) ? this.responseHead(answer) : undefined;
    if (head === undefined || !this.canSend(() => client.writeHead(answer.status, head))) {
      this.fail('backend-protocol');
      return;
    }
    this.upload?.forget();
    if (this.exchange.isCall) this.exchange.grpcStatus = grpcStatusIn(head);
  }

  onData(chunk: Buffer): void {
    if (this.ended) return;
    if (!this.exchange.client.write(chunk)) this.waitForClient();
    this.countData(chunk);
  }

  onBorrowed(chunk: Buffer): void {
    if (this.ended) return;
    const { client } = this.exchange;
    const isTaken = client.writeBorrowed === undefined ? client.write(Buffer.from(chunk)) : client.writeBorrowed(chunk);
    if (!isTaken) this.waitForClient();
    this.countData(chunk);
  }

  private countData(chunk: Buffer): void {
    this.exchange.responseBytes += chunk.length;
    this.writtenBytes += chunk.length;
    this.writtenPieces += 1;
  }

  settled(): void {
    try {
      this.settle();
    } catch (error) {
      this.exchange.fault(error);
    }
  }

  /**
   * Sends a head that still waits: a body that has arrived with it shares its packet. Measures how many bytes of the response wait for
   * the client: also of heads and trailers, which no window limits.
   */
  private settle(): void {
    this.exchange.client.flushHead();
    const { writtenBytes: bytes, writtenPieces: pieces } = this;
    this.writtenBytes = 0;
    this.writtenPieces = 0;
    if (this.responding.update(this.exchange.client.waitingBytes, bytes, pieces)) return;
    if (this.ended) this.exchange.overflow();
    else this.fail('overloaded');
  }

  onEnd(trailers: Fields): void {
    try {
      this.finish(trailers);
    } catch (error) {
      this.exchange.fault(error);
    }
  }

  private finish(trailers: Fields): void {
    if (this.ended) return;
    this.ended = true;
    this.attemptTimer?.cancel();
    this.upload?.stop();
    const sent = this.trailersPossible ? trailerFields(trailers) : [];
    if (this.exchange.isCall) this.exchange.grpcStatus = grpcStatusIn(sent) ?? this.exchange.grpcStatus;
    this.exchange.client.end(sent);
  }

  onSwitch(answer: UpstreamHead, connection: Duplex): void {
    this.exchange.guard(() => this.switch(answer, connection));
  }

  private switch(answer: UpstreamHead, connection: Duplex): void {
    this.attemptTimer?.cancel();
    if (this.ended) {
      connection.destroy();
      return;
    }
    const { address, plane } = this.exchange;
    if (!plane.quotas.tunnels.take(address)) {
      connection.destroy();
      this.fail('too-many-tunnels');
      return;
    }
    connection.once('close', () => plane.quotas.tunnels.release(address));
    const tunnel = this.switchClient(answer);
    if (tunnel === undefined) {
      connection.destroy();
      this.fail('backend-protocol');
      return;
    }
    this.ended = true;
    this.exchange.switched();
    joinTunnel(tunnel, connection, this.exchange);
  }

  /** A function of its own, because the listeners of the caller stay as long as the tunnel, and would keep the fields. */
  private switchClient(answer: UpstreamHead): Duplex | undefined {
    const head = this.responseHead(answer);
    let tunnel: Duplex | undefined;
    if (head !== undefined) this.canSend(() => (tunnel = this.exchange.client.switchProtocol(head)));
    return tunnel;
  }

  onFailure(failure: UpstreamFailure): void {
    this.exchange.guard(() => this.failed(failure));
  }

  private failed(failure: UpstreamFailure): void {
    this.attemptTimer?.cancel();
    this.call = undefined;
    if (failure === 'connect') {
      this.exchange.plane.counters.upstreamConnectFailures += 1;
      this.endpoint?.connectFailed(this.exchange.plane.now());
    }
    if (this.ended) return;
    if (failure === 'stale') this.attempts.connectionWasStale();
    const mayRepeat = this.mayRepeatAfter(failure) && this.attempts.mayRepeat && this.mayBeginAgain();
    const reason = failureReasons[failure];
    const refusal = mayRepeat ? this.attempts.tryAnother(reason) : reason;
    if (refusal !== undefined) this.fail(refusal);
  }

  private mayRepeatAfter(failure: UpstreamFailure): boolean {
    // The backend has not processed the request, so any method may be retried.
    if (failure === 'connect' || failure === 'refused') return true;
    // RFC 9112 section 9.3.1: a closing connection must not fail requests that can be repeated (RFC 9110 section 9.2.2).
    return failure === 'stale' && idempotent.has(this.destination.head.method);
  }

  /** The backend may have acted on the request, so only idempotent methods are retried (RFC 9110 section 9.2.2). */
  private timedOut(): void {
    const mayRepeat = idempotent.has(this.destination.head.method) && this.attempts.mayRepeatLater;
    if (mayRepeat && this.mayBeginAgain()) this.tryLater();
    else this.fail('backend-timeout');
  }

  private mayBeginAgain(): boolean {
    return !this.exchange.client.headSent && (this.upload?.mayBeginAgain() ?? true);
  }

  private tryLater(): void {
    this.attemptTimer?.cancel();
    this.call?.abort();
    this.call = undefined;
    const refusal = this.attempts.tryLater();
    if (refusal !== undefined) this.fail(refusal);
  }

  /** The client reads more slowly than the backend sends. */
  private waitForClient(): void {
    this.call?.pause();
    this.stallTimer?.cancel();
    this.stallTimer = new Timer(this.exchange.plane.limits.stallTimeout, () =>
      this.exchange.guard(() => this.exchange.clientStalled()),
    );
  }

  /** Runs an action that may fail because of the backend's data; a failure ends this exchange. */
  private canSend(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (!(error instanceof Unsendable)) this.exchange.plane.fault(error);
      return false;
    }
  }

  private fail(reason: AnswerReason): void {
    if (this.ended) return;
    this.cancel();
    this.exchange.answer(reason);
  }

  private sendCopies(): readonly Copy[] {
    const {
      head,
      backend,
      listener: { gateway },
    } = this.destination;
    if (backend.mirrors.length === 0) return none;
    const fields = [...this.fields.slice(0, -1), viaEntry(head.httpVersion, head.hops + hopsOfCopy)];
    const request = {
      client: this.exchange.address,
      method: head.method,
      target: this.target,
      fields,
      hasBody: head.hasBody,
      needsHttp2: this.exchange.isCall,
      gateway,
      identity: this.identity,
    };
    return backend.mirrors
      .filter((mirror) => mirror.takes())
      .flatMap((mirror) => Copy.send(this.exchange.plane, mirror, request) ?? []);
  }

  /** Whether the body may be sent again after it was passed to a connection. */
  private mayNeedContentAgain(upstream: Upstream): boolean {
    const { head, rule } = this.destination;
    const needsHttp2 = this.exchange.isCall;
    return rule.retry !== undefined || idempotent.has(head.method) || mayUseHttp2({ upstream, needsHttp2 });
  }

  private requestTo(upstream: Upstream): UpstreamRequest {
    const { head } = this.destination;
    const { client } = this.exchange;
    const announcesTrailers = announcedTrailers(head) !== undefined;
    return {
      client: this.exchange.address,
      upstream,
      method: head.method,
      target: this.target,
      fields: this.fields,
      body: this.upload?.begin(),
      content: this.upload?.content,
      sending:
        this.upload?.sending ?? (this.hasAddedFields ? (bytes, piece) => this.sendingHead(bytes, piece) : undefined),
      trailers: announcesTrailers || head.hasBody ? () => trailerFields(client.trailers) : undefined,
      announcesTrailers,
      needsHttp2: this.exchange.isCall,
      needsNewConnection: this.attempts.needsNewConnection,
      upgrade: client.upgrade,
    };
  }

  /** Whether the head may be larger than that of the client, whose size is limited and accounted for. */
  private get hasAddedFields(): boolean {
    const { backend, head, permitted } = this.destination;
    return backend.requestEdits.length > 0 || head.edits.length > 0 || permitted.change !== undefined;
  }

  private sendingHead(bytes: number, piece: number): void {
    this.unsent ??= new Buffered(this.exchange.plane.quotas.buffered, this.exchange.address);
    if (!this.unsent.update(bytes, piece)) this.exchange.guard(() => this.fail('overloaded'));
  }

  /**
   * Whether a client that requested a WebSocket over HTTP/2 would take this response for a switch, although the backend
   * has not switched.
   */
  private looksLikeSwitch({ status }: UpstreamHead): boolean {
    return (
      this.exchange.client.upgrade !== undefined && this.destination.head.httpVersion === '2.0' && isSwitch(status)
    );
  }

  private sessionFields(): Fields {
    if (this.session === undefined || this.endpoint === undefined) return [];
    return this.session.fieldsFor(this.endpoint, this.exchange.connection.peer.scheme);
  }

  /** Returns the fields for the client, or `undefined` if the response's framing is unsupported. */
  private responseHead(answer: UpstreamHead): Fields | undefined {
    const made = clientFields(answer, this.destination);
    if (made === undefined) return undefined;
    this.trailersPossible = made.trailersPossible;
    return this.session === undefined ? made.fields : [...made.fields, ...this.sessionFields()];
  }
}

/** The session of a request with its backend, if the rule or the backend has session persistence. */
function sessionOf({ plane }: ForwardedRequest, { head, backend }: Destination): ClientSession | undefined {
  const { session, endpoints = '' } = backend;
  if (session === undefined) return undefined;
  return plane.sessions.open(session, head, session.rule === undefined ? endpoints : `${session.rule} ${endpoints}`);
}
