import type { Socket } from 'node:net';
import { Connector } from './connector.ts';
import type { Attempt } from './connector.ts';
import type { ResponseReceiver, Upstream, UpstreamExchange, UpstreamRequest } from '../messages/forwarder.ts';
import { Http1Call, Http1Connection } from './http1-connection.ts';
import type { Http1ConnectionEvents } from './http1-connection.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { Buffered } from '../limits/buffered.ts';
import { BackendTurns } from '../sockets/backend-turns.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { LinkedList } from '../limits/linked-list.ts';
import { PooledForwarder, type UpstreamPool } from './pooled-forwarder.ts';
import type { Quotas } from '../limits/quota.ts';
import { requestHead } from './request-writer.ts';
import { WaitingQueue } from './waiting-queue.ts';
import { monotonicNow, turnNow } from '../../time/clock.ts';
import { ActionInTurns } from '../../time/slices.ts';

const openPlace = Symbol('open');
const connectingPlace = Symbol('connecting');

/** Forwards over HTTP/1.1 with persistent connections to each upstream. */
export class Http1Forwarder extends PooledForwarder<Http1Pool> {
  constructor(limits: ProxyLimits, fault: (error: unknown) => void, quotas: Quotas) {
    super((upstream) => new Http1Pool(upstream, limits, fault, quotas));
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const head = requestHead(request);
    const call = new Http1Call(request, receiver, head ?? '');
    // The caller must get this call before it fails.
    if (head === undefined) queueMicrotask(() => call.fail('protocol'));
    else this.pool(request.upstream).submit(call);
    return call;
  }
}

/** Connections of all pools that are no longer needed. A change of the configuration can release thousands at once. */
const closing = new ActionInTurns<Http1Connection>((connection) => connection.destroy());

/** Interval in milliseconds at which idle connections are checked. */
const sweepInterval = 1_000;

/** The connections to one upstream: as many as there are concurrent requests, up to a limit. */
class Http1Pool implements UpstreamPool, Http1ConnectionEvents {
  private readonly limits: ProxyLimits;
  private readonly connector: Connector;
  private readonly turns = new BackendTurns();
  private readonly connections = new LinkedSet<Http1Connection>(openPlace);
  private readonly connecting = new LinkedSet<Attempt>(connectingPlace);
  /** In order of last use. The last one is used first, so unneeded connections stay idle until they expire. */
  private readonly idle = new LinkedList<Http1Connection>();
  private readonly waiting: WaitingQueue<Http1Call>;
  private sweepTimer: NodeJS.Timeout | undefined;
  private isReleased = false;
  readonly fault: (error: unknown) => void;
  readonly exceeded: () => void;
  readonly account: () => Buffered;

  constructor(upstream: Upstream, limits: ProxyLimits, fault: (error: unknown) => void, quotas: Quotas) {
    this.limits = limits;
    this.fault = fault;
    this.exceeded = () => quotas.reached('response-header');
    this.account = () => new Buffered(quotas.buffered, upstream.host);
    this.waiting = new WaitingQueue(limits.connectionsPerEndpoint, limits, quotas);
    const { contexts } = quotas;
    this.connector = new Connector(upstream, { protocols: ['http/1.1'], timeout: limits.connectTimeout, contexts });
  }

  submit(call: Http1Call): void {
    if (call.request.needsNewConnection === true) this.makeRoom();
    else if (this.useIdle(call)) return;
    this.waiting.add(call);
    this.connectMissing();
  }

  adopt(socket: Socket): void {
    const connection = new Http1Connection(socket, this.limits.headerBytes, this.turns, this);
    this.connections.add(connection);
    this.serve(connection);
  }

  release(): void {
    this.isReleased = true;
    this.closeIdle();
  }

  destroy(): void {
    this.release();
    for (const attempt of this.connecting) attempt.destroy();
    for (const call of this.waiting.takeAll()) call.fail('connect');
    for (const connection of this.connections) connection.breakOff('reset');
  }

  freed(connection: Http1Connection): void {
    if (this.waiting.first?.request.needsNewConnection !== true) this.serve(connection);
    // The request gets one of the connections that are being established.
    else if (this.room > 0 && !this.isReleased) this.rest(connection);
    else connection.destroy();
  }

  private serve(connection: Http1Connection): void {
    const call = this.waiting.take();
    if (call !== undefined) connection.take(call);
    else if (this.isReleased) connection.destroy();
    else this.rest(connection);
  }

  done(call: Http1Call): void {
    this.waiting.release(call.client);
  }

  closed(connection: Http1Connection): void {
    this.connections.delete(connection);
    this.idle.remove(connection.place);
    this.connectMissing();
  }

  private get room(): number {
    return this.limits.connectionsPerEndpoint - this.connections.size;
  }

  /** Closes the idle connection that is most likely not needed, if there is no room for another one. */
  private makeRoom(): void {
    if (this.room > 0) return;
    const place = this.idle.first;
    if (place === undefined) return;
    this.idle.remove(place);
    place.value.destroy();
  }

  private useIdle(call: Http1Call): boolean {
    const connection = this.takeIdle();
    if (connection === undefined) return false;
    const mayEnter = this.waiting.enter(call.client);
    if (mayEnter) connection.take(call);
    else this.rest(connection);
    return mayEnter;
  }

  private rest(connection: Http1Connection): void {
    this.idle.append(connection.place);
    this.sweepTimer ??= setTimeout(() => this.sweep(), sweepInterval).unref();
  }

  private takeIdle(): Http1Connection | undefined {
    const now = turnNow();
    for (let place = this.idle.last; place !== undefined; place = this.idle.last) {
      this.idle.remove(place);
      if (place.value.isUsable(now)) return place.value;
      place.value.destroy();
    }
    return undefined;
  }

  private connectMissing(): void {
    while (this.connecting.size < Math.min(this.waiting.size, this.room)) this.connect();
  }

  private connect(): void {
    const attempt = this.connector.connect({
      established: (established) => {
        this.connecting.delete(attempt);
        this.adopt(established);
      },
      failed: () => {
        this.connecting.delete(attempt);
        this.failNext();
        this.connectMissing();
      },
    });
    this.connecting.add(attempt);
  }

  private failNext(): void {
    const call = this.waiting.take();
    if (call === undefined) return;
    this.waiting.release(call.client);
    call.fail('connect');
  }

  private sweep(): void {
    const now = monotonicNow();
    for (let place = this.idle.first; place !== undefined;) {
      const { value: connection, after } = place;
      place = after;
      connection.forget();
      if (connection.isUsable(now)) continue;
      this.idle.remove(connection.place);
      closing.add(connection);
    }
    if (this.idle.first !== undefined) this.sweepTimer?.refresh();
    else this.sweepTimer = undefined;
  }

  private closeIdle(): void {
    clearTimeout(this.sweepTimer);
    this.sweepTimer = undefined;
    for (let place = this.idle.first; place !== undefined; place = this.idle.first) {
      this.idle.remove(place);
      closing.add(place.value);
    }
  }
}
