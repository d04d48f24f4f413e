import type { Duplex } from 'node:stream';
import { Buffered } from '../limits/buffered.ts';
import type { SharedQuota } from '../limits/quota.ts';
import { watchForReset } from './reset-probe.ts';
import { isHttp2Stream, reset } from './reset.ts';

/** Idle timeouts in milliseconds: in general, and after one side has ended its direction. */
export interface RelayTimeouts {
  readonly idle: number;
  readonly halfClosed: number;
}

/** The reason why a relay did not end in order: a side reset its connection, a timeout, or a full buffer. */
export type RelayFailure = 'client-reset' | 'backend-reset' | 'overloaded' | keyof RelayTimeouts;

/** Receives the events of a relay. */
export interface RelayObserver {
  /** Bytes from the client. */
  received(bytes: number): void;
  /** Bytes from the backend. */
  sent(bytes: number): void;
  /** The quota for buffered bytes, and the client to charge. */
  readonly buffered: SharedQuota;
  readonly address: string;
  /** Both connections are closed or about to close; called once. Without a failure both sides ended in order. */
  ended(failure: RelayFailure | undefined): void;
}

/**
 * Joins a client and a backend. Bytes flow in both directions at the speed of the slower side. The end of one direction
 * is forwarded and leaves the other direction open. A reset of one side resets the other side, so its receiver
 * recognizes a truncated stream. An idle timeout also resets both sides, because a silent side cannot be distinguished
 * from one that is gone.
 */
export class Relay {
  private readonly client: Duplex;
  private readonly backend: Duplex;
  private readonly timeouts: RelayTimeouts;
  private readonly observer: RelayObserver;
  private timer: NodeJS.Timeout;
  private isOver = false;

  constructor(client: Duplex, backend: Duplex, timeouts: RelayTimeouts, observer: RelayObserver) {
    this.client = client;
    this.backend = backend;
    this.timeouts = timeouts;
    this.observer = observer;
    this.timer = this.expireAfter('idle');
    // The client may have disconnected while the backend connection was established.
    if (client.destroyed || backend.destroyed) {
      this.fail(client.destroyed ? 'client-reset' : 'backend-reset');
      return;
    }
    this.watch(client, 'client-reset');
    this.watch(backend, 'backend-reset');
    this.carry(client, backend, (bytes) => observer.received(bytes));
    this.carry(backend, client, (bytes) => observer.sent(bytes));
  }

  /** Resets both sides without calling the observer. */
  abort(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    reset(this.client);
    reset(this.backend);
  }

  private carry(from: Duplex, to: Duplex, count: (bytes: number) => void): void {
    const waiting = new Buffered(this.observer.buffered, this.observer.address);
    to.once('close', () => waiting.close());
    from.on('data', (chunk: Buffer) => {
      this.timer.refresh();
      count(chunk.length);
      // Bytes for a closed side are dropped; its close event ends this side, too.
      if (to.destroyed || to.writableEnded) return;
      if (!to.write(chunk)) from.pause();
      if (!waiting.update(to.writableLength, chunk.length)) this.fail('overloaded');
    });
    to.on('drain', () => {
      this.timer.refresh();
      waiting.update(to.writableLength);
      from.resume();
    });
    const passEndOn = (): void => {
      to.end();
      this.halfClosed();
    };
    // Node emits the end of a socket without bytes even while it is paused, possibly before there was a backend.
    if (from.readableEnded) passEndOn();
    else from.once('end', passEndOn).resume();
  }

  private watch(side: Duplex, failure: RelayFailure): void {
    side.allowHalfOpen = true;
    side.on('error', () => undefined);
    side.once('close', () => {
      // Both directions of this side have ended in order. The other side may still have bytes to read.
      if (side.readableEnded && side.writableFinished && !wasReset(side)) this.finish();
      else this.fail(failure);
    });
    watchForReset(side);
  }

  private halfClosed(): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.timer = this.expireAfter('halfClosed');
  }

  private finish(): void {
    if (this.client.destroyed && this.backend.destroyed) this.end(undefined);
  }

  private fail(failure: RelayFailure): void {
    if (this.isOver) return;
    this.end(failure);
    this.abort();
  }

  private end(failure: RelayFailure | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.observer.ended(failure);
  }

  private expireAfter(time: keyof RelayTimeouts): NodeJS.Timeout {
    return setTimeout(() => this.fail(time), this.timeouts[time]).unref();
  }
}

/** HTTP/2 streams emit their end before they report a reset. */
function wasReset(connection: Duplex): boolean {
  return isHttp2Stream(connection) && connection.aborted;
}
