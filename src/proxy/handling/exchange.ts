import type { ListenerConfig, MatchedRoute } from '../../core/routing/config.ts';
import type { Authorization } from '../../core/routing/decision/authorization.ts';
import { decide, decideAuthorization, decideBackend, filtersBefore } from '../../core/routing/decision/decide.ts';
import type { BackendReason, Decision, Permitted as Destined } from '../../core/routing/decision/decide.ts';
import { editFields } from '../../core/routing/decision/header-edits.ts';
import type { Fields } from '../../core/text/fields.ts';
import { memoryOf } from '../limits/field-memory.ts';
import type { AccessLogEntry } from './access-log.ts';
import { AuthorizationStep } from './authorization/step.ts';
import type { Authorized, AuthorizedRequest } from './authorization/step.ts';
import { filtersOf } from './authorization/listener-filters.ts';
import { permittedBy, unasked } from './authorization/permission.ts';
import type { Permission, Permitted } from './authorization/permission.ts';
import type { ClientStream } from '../messages/client-stream.ts';
import type { CompiledBackend, CompiledRule } from './compiled-rule.ts';
import type { Connection } from '../messages/connection.ts';
import { countCall, countOutcome } from '../counters.ts';
import type { DataPlane } from '../data-plane.ts';
import type { EndpointSet } from '../upstream/endpoints.ts';
import { grpcFields, grpcStatusIn, isCall } from '../messages/grpc.ts';
import { Forwarding } from './forwarding.ts';
import { answerFor, passing } from '../messages/reasons.ts';
import type { AnswerReason, Reason } from '../messages/reasons.ts';
import type { RequestHead } from '../messages/request-head.ts';
import type { TraceReport } from '../../channel/trace.ts';
import { TracedStream } from './traced-stream.ts';
import { Timer } from '../sockets/timer.ts';
import { wallNow } from '../../time/clock.ts';

const clientLeft = 499;

/** Buffer room in bytes that a new request requires. */
const roomForRequest = 16 * 1024;

/** Bytes of memory that the head of each request may take: the limit of concurrent requests accounts for them. */
const usualHead = 4 * 1024;

/**
 * One request from its head to the last byte of its response. Selects the route, responds if no backend is needed, and
 * records metrics and logs. Forwarding handles the backend.
 */
export class Exchange implements AuthorizedRequest {
  readonly plane: DataPlane;
  readonly connection: Connection;
  client: ClientStream;
  /** The client's address. */
  readonly address: string;
  /** `host:port` of the endpoint tried last. */
  upstream: string | undefined;
  responseBytes = 0;
  /** Whether the request is a gRPC call. */
  isCall = false;
  /** The gRPC status that the client got. */
  grpcStatus: number | undefined;
  private readonly startedAt: number;
  private head: RequestHead | undefined;
  private listener: ListenerConfig | undefined;
  private matched: MatchedRoute | undefined;
  private backend: CompiledBackend | undefined;
  /** The calls of authorization servers, in order; the last one may be in progress. */
  private authorizations: AuthorizationStep[] | undefined;
  private permitted: Permitted = unasked;
  private forwarding: Forwarding | undefined;
  private requestTimer: Timer | undefined;
  private reason: Reason | undefined;
  /** Bytes of the head and the trailers of the request, and of the head of a response without a backend, that count as buffered. */
  private headBytes = 0;
  /** Whether the limit of concurrent requests had room for it. If not, its body is not needed. */
  readonly isAdmitted: boolean;

  constructor(plane: DataPlane, connection: Connection, client: ClientStream) {
    this.plane = plane;
    this.startedAt = plane.now();
    this.connection = connection;
    this.client = client;
    this.address = connection.peer.address;
    plane.counters.requests += 1;
    plane.counters.openRequests += 1;
    this.isAdmitted = plane.quotas.requests.take(this.address);
  }

  start(): void {
    const head = this.client.takeHead();
    const hasRoom = this.isAdmitted && this.holds(head);
    try {
      if (hasRoom) this.judge(head);
      else this.answer('overloaded');
    } catch (error) {
      this.fault(error);
    }
  }

  /** Runs an action that has no caller to catch its errors: an unexpected error ends this exchange only. */
  guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fault(error);
    }
  }

  /** Ends the exchange after an unexpected error. */
  fault(error: unknown): void {
    this.plane.fault(error);
    try {
      this.giveUp(this.forwarding === undefined ? 'internal-error' : 'backend-protocol');
    } catch (another) {
      this.plane.fault(another);
      this.client.breakOff();
    }
  }

  /** Accounts for a large head until the request is over. Returns `false` if there is no room for the request. */
  private holds(head: RequestHead | AnswerReason): boolean {
    const { buffered } = this.plane.quotas;
    const more = typeof head === 'string' ? 0 : Math.max(0, head.memory - usualHead);
    return buffered.hasRoom(this.address, roomForRequest + more) && this.takeForHead(more);
  }

  /** The complete request has arrived. Its trailers stay until it is over. */
  received(trailers: Fields): void {
    if (!this.takeForHead(memoryOf(trailers))) this.overflow();
  }

  private takeForHead(bytes: number): boolean {
    if (bytes > 0 && !this.plane.quotas.buffered.take(this.address, bytes)) return false;
    this.headBytes += bytes;
    return true;
  }

  private judge(head: RequestHead | AnswerReason): void {
    if (typeof head === 'string') {
      this.answer(head);
      return;
    }
    this.head = head;
    this.isCall = isCall(head);
    if (this.plane.tracing.accepts(head)) this.client = new TracedStream(this.client, () => this.traceReport());
    const listener = this.connection.listenerFor(head.host);
    if (typeof listener === 'string') {
      this.answer(listener);
      return;
    }
    this.listener = listener;
    this.filter(filtersBefore(filtersOf(listener), listener, head), listener, head);
  }

  /** Runs the filters of the listener one after the other. A request that passes all of them is routed. */
  private filter(filters: readonly Authorization[], listener: ListenerConfig, head: RequestHead): void {
    const authorization = filters[0];
    if (authorization === undefined) {
      this.execute(decide(this.plane, listener, head), head);
      return;
    }
    this.ask({ listener, rule: undefined, head, authorization }, (permission) => {
      this.permitted = permittedBy(permission, this.permitted);
      this.filter(filters.slice(1), listener, head.with(permission.edits));
    });
  }

  /** Calls an authorization server. Unless it permits the request, the exchange ends. */
  private ask(about: Omit<Authorized, 'endpoints' | 'body'>, permitted: (permission: Permission) => void): void {
    const endpoints = decideAuthorization(about.authorization, (key) => this.plane.endpoints.get(key));
    if (typeof endpoints === 'string') {
      this.answer(endpoints);
      return;
    }
    if (about.rule !== undefined) this.limitTime(about.rule);
    const step = new AuthorizationStep(this, { ...about, endpoints, body: this.permitted.body }, permitted);
    (this.authorizations ??= []).push(step);
    step.start();
  }

  /** Responds with an error of the proxy, or breaks off a response that has already begun. */
  answer(reason: AnswerReason): void {
    this.reason ??= reason;
    if (this.client.headSent) {
      this.breakOff(reason);
      return;
    }
    if (this.isCall) {
      const fields = grpcFields(reason);
      this.grpcStatus = grpcStatusIn(fields);
      this.client.writeHead(200, ['server', 'sallyport', ...fields]);
      this.client.end([]);
      return;
    }
    const { status, body } = answerFor(reason);
    this.client.writeHead(status, [
      'server',
      'sallyport',
      'content-type',
      'text/plain; charset=utf-8',
      'content-length',
      String(body.length),
      ...(passing.has(reason) ? ['retry-after', '1'] : []),
    ]);
    if (this.client.method !== 'HEAD') this.responseBytes = body.length;
    this.client.write(body);
    this.client.end([]);
  }

  /** Ends an incomplete response in a way that the client recognizes as incomplete. */
  breakOff(reason: Reason): void {
    this.reason ??= reason;
    this.client.breakOff();
  }

  overflow(): void {
    this.breakOff('overloaded');
  }

  /** The client has stopped reading the response. */
  clientStalled(): void {
    this.plane.quotas.reached('client-stalled');
    this.breakOff('client-aborted');
  }

  /** Like `answer`, for a request that may already be at a backend. */
  giveUp(reason: AnswerReason): void {
    this.cancelAuthorizations();
    this.forwarding?.cancel();
    this.answer(reason);
  }

  /** The connection has switched protocols, so the request timeout no longer applies. */
  switched(): void {
    this.requestTimer?.cancel();
  }

  drained(): void {
    this.guard(() => this.forwarding?.drained());
  }

  /** The response is over: sent completely, or its connection has closed. */
  closed(): void {
    this.requestTimer?.cancel();
    this.cancelAuthorizations();
    this.forwarding?.cancel();
    if (!this.client.isFinished) this.reason ??= 'client-aborted';
    this.record();
  }

  private cancelAuthorizations(): void {
    this.authorizations?.forEach((step) => step.cancel());
  }

  private execute(decision: Decision<CompiledRule>, head: RequestHead): void {
    if ('taken' in decision) this.matched = decision.taken.matched;
    switch (decision.type) {
      case 'answer':
        this.answer(decision.reason);
        return;
      case 'acknowledge':
        this.answerWithoutBody(204, []);
        return;
      case 'preflight':
        this.answerWithoutBody(204, decision.fields);
        return;
      case 'authorize':
        this.authorize(decision, head);
        return;
      case 'redirect':
        this.carryOut(decision, head, undefined);
        return;
      case 'forward':
        this.limitTime(decision.taken.rule);
        this.carryOut(decision, head, decision.taken.rule.backends.next());
    }
  }

  /** Calls the authorization server, unless a permitted request would end with an error anyway. */
  private authorize(
    { taken, authorization, permitted }: Extract<Decision<CompiledRule>, { readonly type: 'authorize' }>,
    head: RequestHead,
  ): void {
    const backend = permitted.type === 'forward' ? taken.rule.backends.next() : undefined;
    const usable = permitted.type === 'forward' ? this.endpointsOf(backend) : undefined;
    if (typeof usable === 'string') {
      this.backend = backend;
      this.answer(usable);
      return;
    }
    this.ask({ ...taken, head, authorization }, (permission) => {
      const change = { edits: permission.edits, before: authorization.editsBefore };
      this.permitted = { ...permittedBy(permission, this.permitted), change };
      this.carryOut(permitted, head, backend);
    });
  }

  /** Forwards the body of a denial to the client; the head has been sent. */
  denied(status: number, body: readonly Buffer[]): void {
    this.reason ??= status < 500 ? 'authorization-denied' : 'authorization-failed';
    for (const chunk of body) {
      this.client.write(chunk);
      if (this.client.method !== 'HEAD') this.responseBytes += chunk.length;
    }
    this.client.end([]);
  }

  private answerWithoutBody(status: number, own: Fields): void {
    const fields = editFields([...own, 'server', 'sallyport'], this.permitted.responseEdits);
    // The filters of a route can make it large, and the client may not read it.
    if (!this.takeForHead(Math.max(0, memoryOf(fields) - usualHead))) {
      this.answer('overloaded');
      return;
    }
    this.client.writeHead(status, fields);
    this.client.end([]);
  }

  private carryOut(outcome: Destined<CompiledRule>, head: RequestHead, backend: CompiledBackend | undefined): void {
    if (outcome.type === 'redirect') {
      this.answerWithoutBody(outcome.status, outcome.fields);
      return;
    }
    this.backend = backend;
    const endpoints = this.endpointsOf(backend);
    if (backend === undefined || typeof endpoints === 'string') {
      this.answer(typeof endpoints === 'string' ? endpoints : 'no-backend');
      return;
    }
    const { listener, matched, rule } = outcome.taken;
    const destination = { listener, matched, rule, head, backend, permitted: this.permitted };
    this.forwarding = new Forwarding(this, destination, endpoints);
    this.forwarding.start();
  }

  private endpointsOf(backend: CompiledBackend | undefined): EndpointSet | BackendReason {
    return decideBackend(backend, (key) => this.plane.endpoints.get(key));
  }

  private limitTime({ requestTimeout }: CompiledRule): void {
    if (requestTimeout > 0)
      this.requestTimer = new Timer(requestTimeout, () => this.guard(() => this.giveUp('request-timeout')));
  }

  private traceReport(): TraceReport {
    const { listener, matched, backend, upstream, reason } = this;
    return {
      ...(listener === undefined ? {} : { listener: listener.key, listenerGeneration: listener.generation }),
      ...(matched === undefined
        ? {}
        : {
            route: routeLabel(matched),
            routeGeneration: matched.route.generation,
            rule: matched.rule.index,
            match: matched.match.index,
          }),
      ...(backend === undefined ? {} : { backend: backend.label }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  private record(): void {
    const { counters, accessLog } = this.plane;
    const duration = this.plane.now() - this.startedAt;
    const status = this.client.headSent ? this.client.status : clientLeft;
    counters.openRequests -= 1;
    if (this.isAdmitted) this.plane.quotas.requests.release(this.address);
    if (this.headBytes > 0) this.plane.quotas.buffered.release(this.address, this.headBytes);
    counters.responseBytes += this.responseBytes;
    countOutcome(counters, status, this.reason, duration);
    if (this.isCall) countCall(counters, this.grpcStatus);
    accessLog?.(this.logEntry(status, duration));
  }

  private logEntry(status: number, duration: number): AccessLogEntry {
    const { head, grpcStatus, listener, matched, backend, upstream, reason } = this;
    return {
      time: new Date(wallNow() - duration).toISOString(),
      client: this.address,
      method: this.client.method,
      ...(head === undefined ? {} : { host: head.host, path: head.path }),
      status,
      ...(grpcStatus === undefined ? {} : { grpcStatus }),
      bytes: this.responseBytes,
      durationMs: Math.round(duration * 1_000) / 1_000,
      ...(listener === undefined ? {} : { listener: listener.key }),
      ...(matched === undefined ? {} : { route: routeLabel(matched), rule: matched.rule.index }),
      ...(backend === undefined ? {} : { backend: backend.label }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(reason === undefined ? {} : { reason }),
    };
  }
}

/** The kind is part of the name: `HTTPRoute/shop/a` and `GRPCRoute/shop/a` are different routes. */
function routeLabel({ route }: MatchedRoute): string {
  return route.key.replace(/^route\//, '');
}
