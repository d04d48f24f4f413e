import { Readable } from 'node:stream';
import type { ListenerConfig } from '../../../core/routing/config.ts';
import { editFields } from '../../../core/routing/decision/header-edits.ts';
import type { Authorization } from '../../../core/routing/decision/authorization.ts';
import { viaEntry } from '../../../core/text/via.ts';
import { Buffered, WatchedInput } from '../../limits/buffered.ts';
import { memoryOf } from '../../limits/field-memory.ts';
import { Attempts } from '../attempts.ts';
import type { CompiledRule } from '../compiled-rule.ts';
import type { Endpoint, EndpointSet } from '../../upstream/endpoints.ts';
import type { ForwardedRequest } from '../forwarded-request.ts';
import type {
  Fields,
  ResponseReceiver,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHead,
} from '../../messages/forwarder.ts';
import { forwardedFields } from '../../messages/forwarding-fields.ts';
import { grpcStatusIn } from '../../messages/grpc.ts';
import { InterimResponses } from '../interim-responses.ts';
import type { AnswerReason } from '../../messages/reasons.ts';
import { RequestBody } from '../request-body.ts';
import type { BodyEvents } from '../request-body.ts';
import type { RequestHead } from '../../messages/request-head.ts';
import { hasNoContent, isFinalStatus, Unsendable } from '../../messages/sendable.ts';
import { Timer } from '../../sockets/timer.ts';
import { identityOf, type ClientIdentity } from '../../upstream/upstream-identity.ts';
import { grpcAuthorization } from './grpc.ts';
import { httpAuthorization } from './http.ts';
import { HeldMessage } from './held-message.ts';
import { sizeOf } from './messages.ts';
import type { AuthorizationMessages, Denial, Subject, Verdict } from './messages.ts';
import type { Permission } from './permission.ts';

/** The view of a request that authorization needs. */
export interface AuthorizedRequest extends ForwardedRequest {
  /** Forwards the body of a denial to the client; the head has been sent. */
  denied(status: number, body: readonly Buffer[]): void;
}

/** The request to authorize and the authorization server. */
export interface Authorized {
  readonly listener: ListenerConfig;
  /** The rule of the filter; `undefined` for a filter of the listener. */
  readonly rule: CompiledRule | undefined;
  readonly head: RequestHead;
  readonly authorization: Authorization;
  readonly endpoints: EndpointSet;
  /** The complete request body, if an earlier server got it. */
  readonly body: readonly Buffer[] | undefined;
}

const protocols: Readonly<Record<Authorization['protocol'], AuthorizationMessages>> = {
  http: httpAuthorization,
  grpc: grpcAuthorization,
};

const failureReasons: Readonly<Record<UpstreamFailure, AnswerReason>> = {
  connect: 'authorization-unavailable',
  refused: 'authorization-unavailable',
  busy: 'authorization-unavailable',
  reset: 'authorization-failed',
  stale: 'authorization-failed',
  protocol: 'authorization-failed',
  upgrade: 'authorization-failed',
  overflow: 'overloaded',
};

/** Memory of changes that is not counted, in bytes. */
const smallChanges = 8 * 1024;

/** After these failures another endpoint is tried: no endpoint has responded, and an authorization request is safe to repeat. */
const repeatable: ReadonlySet<UpstreamFailure> = new Set(['connect', 'refused', 'stale']);

/**
 * Authorizes one request. Unless the server permits it, the exchange ends with the server's response or an error, and
 * no backend gets the request (HTTPRouteFilter.externalAuth: "this filter MUST fail closed").
 */
export class AuthorizationStep implements ResponseReceiver, BodyEvents {
  private readonly exchange: AuthorizedRequest;
  private readonly about: Authorized;
  private readonly permitted: (permission: Permission) => void;
  private readonly identity: ClientIdentity;
  private readonly interim: InterimResponses;
  /** The request body, if the server gets it. */
  private readonly body: HeldMessage;
  /** What a try sends besides the bytes of the request body. */
  private readonly question: Buffered;
  private reading: RequestBody | undefined;
  /** The unread part of the body. */
  private readonly unread: WatchedInput | undefined;
  private readonly attempts: Attempts;
  private endpoint: Endpoint | undefined;
  private call: UpstreamExchange | undefined;
  private timer: Timer | undefined;
  private head: UpstreamHead | undefined;
  private readonly answer: HeldMessage;
  private ended = false;

  constructor(exchange: AuthorizedRequest, about: Authorized, permitted: (permission: Permission) => void) {
    this.exchange = exchange;
    this.about = about;
    this.permitted = permitted;
    this.identity = identityOf(exchange.plane, about.listener);
    this.interim = new InterimResponses(exchange.plane.limits);
    const { authorization, endpoints, rule } = about;
    const terms = { key: authorization.endpoints, endpoints, retry: rule?.retry };
    this.attempts = new Attempts(exchange, terms, { start: () => this.ask() });
    const {
      address,
      client,
      plane: { quotas },
    } = exchange;
    this.body = new HeldMessage(quotas.authorization, address);
    this.answer = new HeldMessage(quotas.authorization, address);
    this.question = new Buffered(quotas.authorization, address);
    this.unread =
      about.head.hasBody && about.body === undefined
        ? new WatchedInput(client.body, new Buffered(quotas.buffered, address), () =>
            exchange.guard(() => this.fail('overloaded')),
          )
        : undefined;
  }

  start(): void {
    const { head, authorization, body } = this.about;
    const length = body === undefined ? head.contentLength : lengthOf(body);
    if (!this.sendsBody) this.ask();
    else if (length !== undefined && length > authorization.maxBody) this.fail('body-too-large');
    else if (body === undefined) this.readBody();
    else this.ask();
  }

  /** Aborts a pending call, because the exchange is over or has a response. */
  cancel(): void {
    this.end();
    this.body.close();
    this.answer.close();
  }

  wanted(): void {
    this.exchange.client.continue();
  }

  received(chunk: Buffer): void {
    this.exchange.plane.counters.requestBytes += chunk.length;
  }

  waiting(): void {
    // Read bytes are stored immediately, so only unread ones wait.
    this.unread?.taken();
  }

  completed(): void {}

  stalled(): void {
    this.fail('body-timeout');
  }

  untaken(): void {
    this.fail('internal-error');
  }

  fault(error: unknown): void {
    this.exchange.fault(error);
  }

  onConnected(): void {
    this.endpoint?.connected();
  }

  onInformation(status: number, fields: Fields): void {
    if (this.ended) return;
    const verdict = this.interim.take(status, fields);
    if (verdict === 'too-many') this.exchange.plane.counters.limitsReached['interim-responses'] += 1;
    if (verdict === 'too-many' || verdict === 'invalid') this.fail('authorization-failed');
  }

  onHead(head: UpstreamHead): void {
    if (this.ended) return;
    if (this.attempts.mayRepeatAfter(head.status)) {
      this.repeat();
      return;
    }
    this.head = head;
    if (!isFinalStatus(head.status)) this.fail('authorization-failed');
    else if (!this.answer.addHead(memoryOf(head.fields))) this.fail('overloaded');
  }

  onData(chunk: Buffer): void {
    if (this.ended) return;
    const { limits, quotas } = this.exchange.plane;
    if (this.answer.length + chunk.length > limits.authorizationAnswerBytes) {
      quotas.reached('authorization-answer');
      this.fail('authorization-failed');
    } else if (!this.answer.add(chunk)) this.fail('overloaded');
  }

  onEnd(trailers: Fields): void {
    this.call = undefined;
    this.exchange.guard(() => this.judge(trailers));
  }

  onFailure(failure: UpstreamFailure): void {
    this.exchange.guard(() => this.failed(failure));
  }

  private get sendsBody(): boolean {
    return this.about.authorization.maxBody > 0 && this.about.head.hasBody;
  }

  private readBody(): void {
    const { client, plane } = this.exchange;
    const reading = new RequestBody(client, plane.limits, this);
    this.reading = reading;
    reading.on('data', (chunk: Buffer) => this.exchange.guard(() => this.keep(chunk)));
    reading.on('end', () => this.exchange.guard(() => this.ask()));
  }

  private keep(chunk: Buffer): void {
    if (this.ended) return;
    if (this.body.length + chunk.length > this.about.authorization.maxBody) this.fail('body-too-large');
    else if (!this.body.add(chunk)) this.fail('overloaded');
  }

  private ask(): void {
    if (this.ended) return;
    const messages = protocols[this.about.authorization.protocol];
    const endpoint = this.attempts.next();
    if (endpoint === undefined) {
      this.fail('authorization-unavailable');
      return;
    }
    this.timer ??= new Timer(this.tryTime ?? this.exchange.plane.limits.authorizationTimeout, () =>
      this.exchange.guard(() => this.timedOut()),
    );
    this.endpoint = endpoint;
    const subject = this.subject();
    const { body, ...request } = messages.request(subject);
    // A message of gRPC contains a copy of the body.
    if (!this.question.update(body === subject.body ? 0 : lengthOf(body))) {
      this.fail('overloaded');
      return;
    }
    this.call = this.exchange.plane.forwarder.forward(
      {
        ...request,
        client: this.exchange.address,
        upstream: endpoint.upstream(this.about.listener.gateway, this.identity),
        body: body.length === 0 ? undefined : Readable.from(body),
        needsNewConnection: this.attempts.needsNewConnection,
      },
      this,
    );
  }

  /** The time for one try in milliseconds: the server is a backend, too. Without it, all tries share the limit of the proxy. */
  private get tryTime(): number | undefined {
    const { backendRequestTimeout = 0 } = this.about.rule ?? {};
    return backendRequestTimeout > 0 ? backendRequestTimeout : undefined;
  }

  private timedOut(): void {
    if (this.tryTime !== undefined && this.attempts.mayRepeatLater) this.repeat();
    else this.fail('authorization-timeout');
  }

  /** Tries again after a pause. */
  private repeat(): void {
    this.call?.abort();
    this.endTry();
    this.head = undefined;
    this.answer.clear();
    const refusal = this.attempts.tryLater();
    if (refusal !== undefined) this.fail(refusal);
  }

  private endTry(): void {
    this.call = undefined;
    if (this.tryTime === undefined) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private subject(): Subject {
    const { rule, head, authorization, endpoints, body = this.body.pieces } = this.about;
    const {
      connection: { peer },
      plane,
    } = this.exchange;
    const fields = editFields(
      forwardedFields(head, peer, plane.forwardedPolicy),
      rule?.requestEdits.slice(0, authorization.editsBefore) ?? [],
    );
    const { externalHostname } = endpoints;
    return { authorization, externalHostname, head, peer, fields, body: this.sendsBody ? body : [] };
  }

  private failed(failure: UpstreamFailure): void {
    if (this.ended) return;
    this.endTry();
    if (failure === 'connect') this.endpoint?.connectFailed(this.exchange.plane.now());
    if (failure === 'stale') this.attempts.connectionWasStale();
    const mayRepeat = repeatable.has(failure) && this.attempts.mayRepeat;
    const reason = failureReasons[failure];
    const refusal = mayRepeat ? this.attempts.tryAnother(reason) : reason;
    if (refusal !== undefined) this.fail(refusal);
  }

  private judge(trailers: Fields): void {
    const { head } = this;
    const { authorization } = this.about;
    if (this.ended || head === undefined) return;
    const answer = { head, body: this.answer.pieces, trailers };
    const verdict = protocols[authorization.protocol].verdict(authorization, answer);
    const { section, memory } = sizeOf(verdict);
    const { limits, quotas } = this.exchange.plane;
    // Over HTTP, the section was limited when it arrived.
    if (section > 2 * limits.headerBytes) {
      quotas.reached('authorization-answer');
      this.fail('authorization-failed');
      return;
    }
    switch (verdict.type) {
      case 'failed':
        this.fail('authorization-failed');
        return;
      case 'denied':
        this.deny(verdict, head);
        return;
      case 'permitted':
        // The changes stay until the exchange is over. Small ones are no more than a part of the request.
        if (this.answer.replace(memory > smallChanges ? memory : 0)) this.permit(verdict);
        else this.fail('overloaded');
    }
  }

  private permit({ edits, responseEdits }: Extract<Verdict, { readonly type: 'permitted' }>): void {
    this.end();
    this.exchange.plane.counters.authorizations.permitted += 1;
    const { body = this.sendsBody ? this.body.pieces : undefined } = this.about;
    this.permitted({ edits, responseEdits, body });
  }

  private deny({ status, fields, body }: Denial, { httpVersion }: UpstreamHead): void {
    const { client, plane } = this.exchange;
    const { head, rule } = this.about;
    const answered = rule?.cors?.respond(fields, head) ?? [...fields];
    if (!hasNoContent(head.method, status)) answered.push('content-length', String(lengthOf(body)));
    answered.push('via', viaEntry(httpVersion, 1));
    this.end();
    try {
      client.writeHead(status, answered);
    } catch (error) {
      if (!(error instanceof Unsendable)) plane.fault(error);
      this.refuse('authorization-failed');
      return;
    }
    plane.counters.authorizations.denied += 1;
    if (this.exchange.isCall) this.exchange.grpcStatus = grpcStatusIn(answered);
    this.exchange.denied(status, body);
  }

  private fail(reason: AnswerReason): void {
    if (this.ended) return;
    this.end();
    this.refuse(reason);
  }

  private refuse(reason: AnswerReason): void {
    this.exchange.plane.counters.authorizations.failed += 1;
    this.exchange.answer(reason);
  }

  /** Ignores all further events of the server. */
  private end(): void {
    if (this.ended) return;
    this.ended = true;
    // The request can take long.
    this.head = undefined;
    this.attempts.end();
    this.timer?.cancel();
    this.unread?.stop();
    this.reading?.destroy();
    this.call?.abort();
    this.question.close();
  }
}

function lengthOf(body: readonly Buffer[]): number {
  return body.reduce((sum, { length }) => sum + length, 0);
}
