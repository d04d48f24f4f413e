import type { Socket } from 'node:net';
import { Connector } from './connector.ts';
import type { Attempt } from './connector.ts';
import type {
  ResponseReceiver,
  Upstream,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamRequest,
} from '../messages/forwarder.ts';
import { Http2Call } from './http2-call.ts';
import { Http2Connection } from './http2-connection.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { Buffered } from '../limits/buffered.ts';
import { BackendTurns } from '../sockets/backend-turns.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { PooledForwarder, type UpstreamPool } from './pooled-forwarder.ts';
import type { Quotas } from '../limits/quota.ts';
import { WaitingQueue } from './waiting-queue.ts';
import { monotonicNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { slice } from '../../time/slices.ts';

const roomyPlace = Symbol('roomy');

/** Forwards over HTTP/2, with prior knowledge or as negotiated by TLS. */
export class Http2Forwarder extends PooledForwarder<Http2Pool> {
  private readonly fault: (error: unknown) => void;
  private readonly quotas: Quotas;

  constructor(limits: ProxyLimits, fault: (error: unknown) => void, quotas: Quotas) {
    super((upstream) => new Http2Pool(upstream, limits, fault, quotas));
    this.fault = fault;
    this.quotas = quotas;
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const call = new Http2Call(request, receiver, { fault: this.fault, quotas: this.quotas });
    this.pool(request.upstream).submit(call);
    return call;
  }
}

/** The connections to one upstream: one, or more if its limit of concurrent requests is reached. */
class Http2Pool implements UpstreamPool {
  private readonly limits: ProxyLimits;
  private readonly connector: Connector;
  private readonly turns = new BackendTurns();
  private readonly connections = new Set<Http2Connection>();
  /** Those without the settings of the backend. */
  private readonly unready = new Set<Http2Connection>();
  /** Those that can take requests, and some that no longer can. The last one is used first, so that surplus ones become idle, and close. */
  private readonly roomy = new LinkedSet<Http2Connection>(roomyPlace);
  private readonly waiting: WaitingQueue<Http2Call>;
  /** Concurrent requests that one connection allows: the last limit known, except 0, or one until a connection knows its limit. */
  private capacity = 1;
  private willServe = false;
  private connecting: Attempt | undefined;
  private isReleased = false;
  private readonly nextTurn = new NextTurn(() => this.serve());
  private readonly fault: (error: unknown) => void;
  private readonly quotas: Quotas;
  private readonly host: string;

  constructor(upstream: Upstream, limits: ProxyLimits, fault: (error: unknown) => void, quotas: Quotas) {
    this.host = upstream.host;
    this.limits = limits;
    this.fault = fault;
    this.quotas = quotas;
    this.waiting = new WaitingQueue(limits.connectionsPerEndpoint, limits, quotas);
    const { contexts } = quotas;
    this.connector = new Connector(upstream, { protocols: ['h2'], timeout: limits.connectTimeout, contexts });
  }

  submit(call: Http2Call): void {
    // The caller must get the call before it is served or fails.
    this.waiting.add(call);
    if (this.willServe) return;
    this.willServe = true;
    queueMicrotask(() => {
      this.willServe = false;
      this.serve();
    });
  }

  adopt(socket: Socket): void {
    const connection: Http2Connection = new Http2Connection(socket, this.limits, this.turns, {
      ready: () => {
        this.unready.delete(connection);
        this.resize();
      },
      hasRoom: () => {
        if (!this.roomy.has(connection)) this.roomy.add(connection);
        this.serve();
      },
      done: (call) => {
        this.waiting.release(call.client);
        if (this.waiting.size > 0) this.serve();
      },
      ended: (failure) => {
        this.connections.delete(connection);
        this.unready.delete(connection);
        this.roomy.delete(connection);
        this.resize();
        if (failure !== undefined) this.failed(failure);
        this.serve();
      },
      exceeded: (limit) => this.quotas.reached(limit),
      account: () => new Buffered(this.quotas.buffered, this.host),
      fault: this.fault,
    });
    this.connections.add(connection);
    this.unready.add(connection);
  }

  release(): void {
    this.isReleased = true;
    this.serve();
  }

  destroy(): void {
    this.connecting?.destroy();
    this.failed('connect');
    for (const connection of this.connections) connection.destroy();
  }

  /**
   * Derives the endpoint's limit of concurrent requests from the connection with the highest one. A connection that allows no requests
   * (SETTINGS_MAX_CONCURRENT_STREAMS of 0) must not stop the others, or those that follow it.
   */
  private resize(): void {
    let highest: number | undefined;
    for (const connection of this.connections)
      if (connection.isReady) highest = Math.max(highest ?? 0, connection.capacity);
    if (highest !== undefined && highest > 0) this.capacity = highest;
    this.waiting.resize(highest === 0 ? 0 : this.limits.connectionsPerEndpoint * this.capacity);
  }

  /**
   * Serves requests that wait, for a slice of time: hundreds of them can wait for a connection, and the filters of a route can make their
   * heads large.
   */
  private serve(): void {
    const began = monotonicNow();
    while (this.waiting.size > 0) {
      const connection = this.roomy.last;
      if (connection === undefined) break;
      if (connection.room <= 0) this.roomy.delete(connection);
      else if (this.serveWith(connection) && monotonicNow() - began >= slice) {
        this.nextTurn.request();
        return;
      }
    }
    if (this.waiting.size > 0) this.connectAnother();
    else if (this.isReleased) for (const connection of this.connections) connection.close();
  }

  /** Returns whether further requests wait. */
  private serveWith(connection: Http2Connection): boolean {
    const call = this.waiting.take();
    if (call !== undefined) connection.take(call);
    return this.waiting.size > 0;
  }

  private connectAnother(): void {
    const { connectionsPerEndpoint } = this.limits;
    const isComing = this.connecting !== undefined || this.unready.size > 0;
    if (isComing || this.connections.size >= connectionsPerEndpoint) return;
    this.connecting = this.connector.connect({
      established: (socket) => {
        this.connecting = undefined;
        this.adopt(socket);
      },
      failed: () => {
        this.connecting = undefined;
        this.failed('connect');
      },
    });
  }

  /** Fails the waiting requests, unless another connection will serve them. */
  private failed(failure: UpstreamFailure): void {
    if (this.connections.size > 0) return;
    for (const call of this.waiting.takeAll()) call.fail(failure);
  }
}
