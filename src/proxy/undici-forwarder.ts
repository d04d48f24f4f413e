import { Pool, errors } from 'undici';
import type { Dispatcher } from 'undici';
import type { Fields, Forwarder, ResponseReceiver, UpstreamExchange, UpstreamFailure, UpstreamRequest } from './forwarder.ts';
import type { ProxyLimits } from './limits.ts';

/** Forwards over HTTP/1.1 with one pool of kept-alive connections for each origin. */
export class UndiciForwarder implements Forwarder {
  private readonly pools = new Map<string, Pool>();
  private readonly limits: ProxyLimits;

  constructor(limits: ProxyLimits) {
    this.limits = limits;
  }

  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange {
    const call = new UndiciCall(receiver);
    const { target: path, method, fields: headers, body = null } = request;
    call.dispatch(this.pool(request.origin), { path, method, headers, body });
    return call;
  }

  release(origin: string): void {
    const pool = this.pools.get(origin);
    this.pools.delete(origin);
    // Waits for the requests under way; nothing is left to be told of a failure.
    pool?.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  private pool(origin: string): Pool {
    let pool = this.pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: this.limits.connectionsPerEndpoint,
        connect: { timeout: this.limits.connectTimeout },
        pipelining: 1,
        allowH2: false,
        // How long a backend may think or pause is the route's decision (its timeouts), not the engine's.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.pools.set(origin, pool);
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
