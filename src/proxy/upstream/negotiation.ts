import type { Duplex } from 'node:stream';
import { Connector, negotiatedProtocol } from './connector.ts';
import type {
  Fields,
  ResponseReceiver,
  Upstream,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHead,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import type { Http2Forwarder } from './http2-forwarder.ts';
import type { Http1Forwarder } from './http1-forwarder.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { Quotas } from '../limits/quota.ts';
import { WaitingQueue } from './waiting-queue.ts';
import type { Waiter } from './waiting-queue.ts';
import { monotonicNow } from '../../time/clock.ts';

export interface Engines {
  readonly http1: Http1Forwarder;
  readonly http2: Http2Forwarder;
}

/**
 * Determines the HTTP version of an upstream with the first TLS connection, and keeps it until connections fail. The
 * engine of that version takes over the connection. If requests fail because of the version, it asks again from time to time: the upstream
 * may be another server now, and each question costs a connection.
 */
export class Negotiation {
  private readonly upstream: Upstream;
  private readonly engines: Engines;
  private readonly connector: Connector;
  private readonly interval: number;
  private readonly waiting: WaitingQueue<DeferredCall>;
  private isAsking = false;
  private found: keyof Engines | undefined;
  private foundAt = -Infinity;
  private isReleased = false;

  constructor(upstream: Upstream, engines: Engines, limits: ProxyLimits, quotas: Quotas) {
    this.upstream = upstream;
    this.engines = engines;
    const { contexts } = quotas;
    const protocols = ['h2', 'http/1.1'];
    this.connector = new Connector(upstream, { protocols, timeout: limits.connectTimeout, contexts });
    this.interval = limits.renegotiationInterval;
    this.waiting = new WaitingQueue(Infinity, limits, quotas);
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const call = new DeferredCall(request, new Observer(receiver, (failure) => this.doubt(failure)));
    if (this.found !== undefined) {
      call.begin(this.found, this.engines);
      return call;
    }
    this.waiting.add(call);
    if (!this.isAsking) this.ask();
    return call;
  }

  /** The upstream is no longer used. A connection attempt in progress still serves waiting requests and closes after them. */
  release(): void {
    this.isReleased = true;
  }

  private doubt(failure: UpstreamFailure): void {
    const isOld = monotonicNow() - this.foundAt >= this.interval;
    if (failure === 'connect' || (failure === 'protocol' && isOld)) this.found = undefined;
  }

  private ask(): void {
    this.isAsking = true;
    this.connector.connect({
      established: (socket) => {
        this.isAsking = false;
        this.found = negotiatedProtocol(socket) === 'h2' ? 'http2' : 'http1';
        this.foundAt = monotonicNow();
        this.engines[this.found].adopt(this.upstream, socket);
        this.serve(this.found);
        if (this.isReleased)
          for (const engine of [this.engines.http1, this.engines.http2]) engine.release(this.upstream);
      },
      failed: () => {
        this.isAsking = false;
        for (const call of this.waiting.takeAll()) call.fail('connect');
      },
    });
  }

  private serve(found: keyof Engines): void {
    for (const call of this.waiting.takeAll()) call.begin(found, this.engines);
  }
}

/** A request that waits until its engine is known. */
class DeferredCall implements UpstreamExchange, Waiter {
  leave: (() => void) | undefined;
  private readonly request: UpstreamRequest;
  private readonly receiver: ResponseReceiver;
  private call: UpstreamExchange | undefined;
  private isGivenUp = false;

  constructor(request: UpstreamRequest, receiver: ResponseReceiver) {
    this.request = request;
    this.receiver = receiver;
  }

  get client(): string {
    return this.request.client;
  }

  begin(found: keyof Engines, engines: Engines): void {
    if (this.isGivenUp) return;
    if (found === 'http1' && this.request.needsHttp2 === true) {
      // The caller must get this call before it fails.
      queueMicrotask(() => this.fail('protocol'));
      return;
    }
    // HTTP/2 connections cannot switch protocols.
    const engine = engines[this.request.upgrade === undefined ? found : 'http1'];
    const call = engine.forward(this.request, this.receiver);
    // Sending may already have exceeded a quota.
    if (this.isGivenUp) call.abort();
    else this.call = call;
  }

  fail(failure: UpstreamFailure): void {
    if (!this.isGivenUp) this.receiver.onFailure(failure);
  }

  abort(): void {
    this.isGivenUp = true;
    this.leave?.();
    this.call?.abort();
  }

  pause(): void {
    this.call?.pause();
  }

  resume(): void {
    this.call?.resume();
  }
}

/** Forwards all calls to a receiver, and reports failures. */
class Observer implements ResponseReceiver {
  private readonly receiver: ResponseReceiver;
  private readonly failed: (failure: UpstreamFailure) => void;

  constructor(receiver: ResponseReceiver, failed: (failure: UpstreamFailure) => void) {
    this.receiver = receiver;
    this.failed = failed;
  }

  onConnected(): void {
    this.receiver.onConnected();
  }

  onInformation(status: number, fields: Fields): void {
    this.receiver.onInformation(status, fields);
  }

  onHead(head: UpstreamHead): void {
    this.receiver.onHead(head);
  }

  onData(chunk: Buffer): void {
    this.receiver.onData(chunk);
  }

  onBorrowed(chunk: Buffer): void {
    if (this.receiver.onBorrowed === undefined) this.receiver.onData(Buffer.from(chunk));
    else this.receiver.onBorrowed(chunk);
  }

  onEnd(trailers: Fields): void {
    this.receiver.onEnd(trailers);
  }

  settled(): void {
    this.receiver.settled?.();
  }

  onSwitch(head: UpstreamHead, connection: Duplex): void {
    this.receiver.onSwitch?.(head, connection);
  }

  onFailure(failure: UpstreamFailure): void {
    this.failed(failure);
    this.receiver.onFailure(failure);
  }
}
