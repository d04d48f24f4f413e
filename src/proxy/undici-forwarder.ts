import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Pool, errors } from 'undici';
import type { buildConnector, Dispatcher } from 'undici';
import { formatAddress } from './address.ts';
import { Connector } from './connector.ts';
import type { Fields, Forwarder, ResponseReceiver, Upstream, UpstreamExchange, UpstreamFailure, UpstreamRequest } from './forwarder.ts';
import type { ProxyLimits } from './limits.ts';
import { forwardWithTrailers } from './trailer-forwarder.ts';

/** Forwards over HTTP/1.1 with one pool of kept-alive connections for each upstream. */
export class UndiciForwarder implements Forwarder {
  private readonly pools = new Map<Upstream, Pool>();
  /** Connections that wait for their pool to ask for one. */
  private readonly adopted = new Map<Upstream, Socket>();
  private readonly limits: ProxyLimits;

  constructor(limits: ProxyLimits) {
    this.limits = limits;
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    if (request.announcesTrailers === true) return forwardWithTrailers(request, receiver, this.limits.connectTimeout);
    const call = new UndiciCall(receiver);
    const { target: path, method, fields: headers, body = null, upgrade = null } = request;
    call.dispatch(this.pool(request.upstream), { path, method, headers, body, upgrade });
    return call;
  }

  release(upstream: Upstream): void {
    this.adopted.get(upstream)?.destroy();
    const pool = this.pools.get(upstream);
    this.pools.delete(upstream);
    // Waits for the requests under way; nothing is left to be told of a failure.
    pool?.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    for (const socket of this.adopted.values()) socket.destroy();
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /** Takes over a connection that stands. */
  adopt(upstream: Upstream, socket: Socket): void {
    this.adopted.set(upstream, socket);
    socket.once('close', () => this.adopted.delete(upstream));
  }

  private connectorOf(upstream: Upstream): buildConnector.connector {
    const connector = new Connector(upstream, ['http/1.1'], this.limits.connectTimeout);
    return (_options, done) => {
      const adopted = this.adopted.get(upstream);
      this.adopted.delete(upstream);
      // The engine does not expect to be answered at once.
      if (adopted?.readable === true) queueMicrotask(() => done(null, adopted));
      else connector.connect({ established: (socket) => done(null, socket), failed: (error) => done(error, null) });
    };
  }

  private pool(upstream: Upstream): Pool {
    let pool = this.pools.get(upstream);
    if (pool === undefined) {
      const { connectTimeout: timeout, connectionsPerEndpoint: connections } = this.limits;
      // The engine would take the server name for TLS from the request's Host, so it is told nothing of TLS.
      pool = new Pool(`http://${formatAddress(upstream.host, upstream.port)}`, {
        connections,
        connect: upstream.tls === undefined ? { timeout } : this.connectorOf(upstream),
        pipelining: 1,
        allowH2: false,
        // How long a backend may think or pause is the route's decision (its timeouts), not the engine's.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.pools.set(upstream, pool);
    }
    return pool;
  }
}

const gaveUp = new Error('the request was given up');

class UndiciCall implements UpstreamExchange, Dispatcher.DispatchHandler {
  private readonly receiver: ResponseReceiver;
  private controller: Dispatcher.DispatchController | undefined;
  private aborted = false;
  private dispatching = true;

  constructor(receiver: ResponseReceiver) {
    this.receiver = receiver;
  }

  dispatch(pool: Pool, options: Dispatcher.DispatchOptions): void {
    pool.dispatch(options, this);
    this.dispatching = false;
  }

  abort(): void {
    this.aborted = true;
    // Before a connection stands there is nothing to abort yet; onRequestStart sees to it.
    this.controller?.abort(gaveUp);
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.aborted) controller.abort(gaveUp);
    else this.receiver.onConnected();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.aborted) return;
    const fields = toFields(controller.rawHeaders);
    if (status < 200) this.receiver.onInformation(status, fields);
    else this.receiver.onHead(status, fields);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: unknown, socket: Duplex): void {
    if (this.aborted || this.receiver.onSwitch === undefined) socket.destroy();
    else this.receiver.onSwitch(toFields(controller.rawHeaders), socket);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.aborted) this.receiver.onData(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (!this.aborted) this.receiver.onEnd(toFields(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // The caller must have this call in hand before it hears that it failed.
    if (this.dispatching) queueMicrotask(() => this.fail(error));
    else this.fail(error);
  }

  private fail(error: Error): void {
    if (!this.aborted) this.receiver.onFailure(this.classify(error));
  }

  private classify(error: Error): UpstreamFailure {
    if (isProtocolError(error)) return 'protocol';
    return this.controller === undefined ? 'connect' : 'reset';
  }
}

function isProtocolError(error: Error): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.NotSupportedError
  );
}

type RawFields = Dispatcher.DispatchController['rawHeaders'];

function toFields(raw: RawFields): Fields {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}
