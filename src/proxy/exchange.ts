import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { ListenerConfig, MatchedRoute } from '../core/routing/config.ts';
import type { AccessLogEntry } from './access-log.ts';
import type { CompiledBackend, CompiledRule } from './compiled-rule.ts';
import { closeGently } from './connection.ts';
import type { Connection, OpenRequest } from './connection.ts';
import { countOutcome } from './counters.ts';
import type { DataPlane } from './data-plane.ts';
import { editFields } from './header-edits.ts';
import { Forwarding } from './forwarding.ts';
import { redirectLocation } from './location.ts';
import { answerFor } from './reasons.ts';
import type { AnswerReason, Reason } from './reasons.ts';
import { readRequestHead } from './request-head.ts';
import type { RequestHead } from './request-head.ts';
import { Timer } from './timer.ts';

/** A response that knows its exchange, so that events on it need no listener made for each request. */
export class ProxyResponse extends ServerResponse {
  exchange: Exchange | undefined;
}

/** Unread rests of request bodies up to this size are read and thrown away to keep the connection. */
const discardable = 64 * 1024;

const clientLeft = 499;

/** What was decided about a request that goes to a backend. */
export interface Destination {
  readonly head: RequestHead;
  readonly matched: MatchedRoute;
  readonly rule: CompiledRule;
  readonly backend: CompiledBackend;
}

/**
 * One request from its head to the last byte of its answer: decides where it goes, answers what needs no backend, and
 * keeps the books. Carrying it to a backend and back is the business of Forwarding.
 */
export class Exchange implements OpenRequest {
  readonly plane: DataPlane;
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ProxyResponse;
  /** `host:port` of the endpoint tried last. */
  upstream: string | undefined;
  responseBytes = 0;
  private readonly startedAt = performance.now();
  private head: RequestHead | undefined;
  private listener: ListenerConfig | undefined;
  private matched: MatchedRoute | undefined;
  private backend: CompiledBackend | undefined;
  private forwarding: Forwarding | undefined;
  private requestTimer: Timer | undefined;
  private reason: Reason | undefined;
  /** The client waits for "100 Continue" before it sends its body (RFC 9110 section 10.1.1). */
  private awaitsContinue = false;

  constructor(plane: DataPlane, connection: Connection, request: IncomingMessage, response: ProxyResponse) {
    this.plane = plane;
    this.connection = connection;
    this.request = request;
    this.response = response;
    connection.openRequests.add(this);
    plane.counters.requests += 1;
    plane.counters.openRequests += 1;
  }

  start(): void {
    const head = readRequestHead(this.request, this.plane.limits);
    if (typeof head === 'string') {
      this.answer(head);
      return;
    }
    this.head = head;
    const listener = this.connection.listenerFor(head.host);
    if (typeof listener === 'string') {
      this.answer(listener);
      return;
    }
    this.listener = listener;
    if (isForProxyItself(head)) this.answerForItself(head);
    else this.route(head, listener);
  }

  /** As `start`, for a client that waits for leave to send its body. It is given once a backend wants to read it. */
  startExpectingContinue(): void {
    this.awaitsContinue = true;
    this.start();
  }

  continue(): void {
    if (!this.awaitsContinue || this.response.headersSent) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  /** Answers on the proxy's own account; breaks the connection off where an answer has already begun. */
  answer(reason: AnswerReason): void {
    this.reason ??= reason;
    if (this.response.headersSent) {
      this.breakOff(reason);
      return;
    }
    const { status, body } = answerFor(reason);
    this.writeHead(status, [
      'server', 'sallyport', 'content-type', 'text/plain; charset=utf-8', 'content-length', String(body.length),
    ]);
    this.response.end(body);
    if (this.request.method !== 'HEAD') this.responseBytes = body.length;
  }

  /** Writes status and fields; adds what ends the connection after this answer where that is due. */
  writeHead(status: number, fields: string[]): void {
    const bodyIsInTheWay = !this.request.complete && !this.canDiscardBody();
    // Node loses what a client sends right after a request for an upgrade that is not granted.
    const mustClose = bodyIsInTheWay || this.head?.asksForUpgrade === true || this.connection.isDraining();
    if (mustClose) fields.push('connection', 'close');
    if (bodyIsInTheWay) {
      // The server closes by this method after the last byte; what the client is still sending must not reset it.
      const { socket } = this.request;
      socket.destroySoon = () => closeGently(socket);
    }
    this.response.writeHead(status, fields);
  }

  /** Ends an answer that cannot be completed so that the client cannot take it for a whole one. */
  breakOff(reason: Reason): void {
    this.reason ??= reason;
    const { socket, httpVersion } = this.request;
    // An answer to HTTP/1.0 may end with the connection: only a reset says that it broke.
    if (httpVersion === '1.0' && this.connection.peer.scheme === 'http') socket.resetAndDestroy();
    else socket.destroy();
  }

  /** As `answer`, for a request that may already be on its way to a backend. */
  giveUp(reason: AnswerReason): void {
    this.forwarding?.cancel();
    this.answer(reason);
  }

  drained(): void {
    this.forwarding?.drained();
  }

  /** The response is over: sent as a whole, or the connection went away under it. */
  closed(): void {
    this.connection.openRequests.delete(this);
    this.requestTimer?.cancel();
    this.forwarding?.cancel();
    if (!this.response.writableFinished) this.reason ??= 'client-aborted';
    if (!this.request.complete) this.request.resume();
    // Its head may have gone out before the drain began, without word of it.
    if (this.connection.isDraining() && this.connection.openRequests.size === 0) this.request.socket.destroySoon();
    this.record();
  }

  private route(head: RequestHead, listener: ListenerConfig): void {
    const matched = this.plane.table.match(listener.key, head);
    const rule = matched === undefined ? undefined : this.plane.ruleOf(matched);
    if (matched === undefined || rule === undefined) {
      this.answer('no-route');
      return;
    }
    this.matched = matched;
    const preflight = rule.cors?.preflight(head);
    if (rule.fails) this.answer('rule-failure');
    else if (preflight !== undefined) this.answerPreflight(preflight);
    else if (rule.redirect === undefined) this.forward({ head, matched, rule });
    else {
      const location = redirectLocation(rule.redirect, listener, head, matched.match);
      const own = ['location', location, 'content-length', '0'];
      const fields = editFields(rule.cors?.respond(own, head) ?? own, rule.responseEdits);
      fields.push('server', 'sallyport');
      this.writeHead(rule.redirect.statusCode, fields);
      this.response.end();
    }
  }

  private answerPreflight(fields: string[]): void {
    fields.push('server', 'sallyport');
    this.writeHead(204, fields);
    this.response.end();
  }

  private forward(found: Omit<Destination, 'backend'>): void {
    const backend = found.rule.backends.next();
    if (backend === undefined) {
      this.answer('no-backend');
      return;
    }
    this.backend = backend;
    if (backend.endpoints === undefined) {
      this.answer('invalid-backend');
      return;
    }
    const endpoints = this.plane.endpoints.get(backend.endpoints);
    if (endpoints === undefined || endpoints.isEmpty) {
      this.answer('no-endpoints');
      return;
    }
    const { requestTimeout } = found.rule;
    if (requestTimeout > 0) this.requestTimer = new Timer(requestTimeout, () => this.giveUp('request-timeout'));
    this.forwarding = new Forwarding(this, { ...found, backend }, endpoints);
    this.forwarding.start();
  }

  /** `OPTIONS *`, or a request whose hops are used up (RFC 9110 section 7.6.2). */
  private answerForItself(head: RequestHead): void {
    if (head.method === 'TRACE') {
      this.answer('trace-unsupported');
      return;
    }
    this.writeHead(204, ['server', 'sallyport']);
    this.response.end();
  }

  private canDiscardBody(): boolean {
    if (this.awaitsContinue) return false;
    const length = this.head === undefined ? undefined : this.head.contentLength;
    return length !== undefined && length <= discardable;
  }

  private record(): void {
    const { counters, accessLog } = this.plane;
    const duration = performance.now() - this.startedAt;
    const status = this.response.headersSent ? this.response.statusCode : clientLeft;
    counters.openRequests -= 1;
    counters.responseBytes += this.responseBytes;
    countOutcome(counters, status, this.reason, duration);
    accessLog?.(this.logEntry(status, duration));
  }

  private logEntry(status: number, duration: number): AccessLogEntry {
    const { head, listener, matched, backend, upstream, reason } = this;
    return {
      time: new Date(Date.now() - duration).toISOString(),
      client: this.connection.peer.address,
      method: this.request.method ?? '',
      ...(head === undefined ? {} : { host: head.host, path: head.path }),
      status,
      bytes: this.responseBytes,
      durationMs: Math.round(duration * 1_000) / 1_000,
      ...(listener === undefined ? {} : { listener: listener.key }),
      ...(matched === undefined ? {} : { route: matched.route.route, rule: matched.rule.index }),
      ...(backend === undefined ? {} : { backend: backend.label }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(reason === undefined ? {} : { reason }),
    };
  }
}

function isForProxyItself(head: RequestHead): boolean {
  return head.path === '*' || head.remainingHops === 0;
}
