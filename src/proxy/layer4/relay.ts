import type { Socket } from 'node:net';
import type { Limit } from '../counters.ts';
import { readInTurns } from '../read-in-turns.ts';
import { watchForReset } from '../reset-probe.ts';
import { reset } from './reset.ts';
import type { Layer4Reason } from './reasons.ts';

/** How long nothing may come from either side: at all, and once one side has ended its direction. Milliseconds. */
export interface RelayLimits {
  readonly tcpIdleTimeout: number;
  readonly tcpHalfClosedTimeout: number;
}

/** Who is told about what goes over a relay. */
export interface RelayObserver {
  /** Bytes of the client. */
  received(bytes: number): void;
  /** Bytes of the backend. */
  sent(bytes: number): void;
  reached(limit: Limit): void;
  /** Both connections are closed or about to; comes once. Without a reason both sides ended in order. */
  ended(reason: Layer4Reason | undefined): void;
}

/**
 * Joins a client and a backend. Bytes go both ways as fast as the slower side takes them. The end of one direction is passed on and
 * leaves the other direction open. A reset of one side resets the other side, behind which the receiver of a truncated stream
 * recognizes it.
 */
export class Relay {
  private readonly client: Socket;
  private readonly backend: Socket;
  private readonly limits: RelayLimits;
  private readonly observer: RelayObserver;
  private timer: NodeJS.Timeout;
  private isOver = false;

  constructor(client: Socket, backend: Socket, limits: RelayLimits, observer: RelayObserver) {
    this.client = client;
    this.backend = backend;
    this.limits = limits;
    this.observer = observer;
    this.timer = this.expireAfter(limits.tcpIdleTimeout, 'tcp-idle');
    // The client may have gone while the connection to the backend was made.
    if (client.destroyed || backend.destroyed) {
      this.abort(client.destroyed ? 'client-reset' : 'backend-reset');
      return;
    }
    this.watch(client, 'client-reset');
    this.watch(backend, 'backend-reset');
    this.carry(client, backend, (bytes) => observer.received(bytes));
    this.carry(backend, client, (bytes) => observer.sent(bytes));
  }

  /** Resets both sides. */
  abort(reason: Layer4Reason): void {
    if (this.isOver) return;
    this.end(reason);
    reset(this.client);
    reset(this.backend);
  }

  private carry(from: Socket, to: Socket, count: (bytes: number) => void): void {
    from.on('data', (chunk: Buffer) => {
      this.timer.refresh();
      count(chunk.length);
      // Bytes for a side that is gone have no receiver; its close event ends this side, too.
      if (to.destroyed || to.writableEnded) return;
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      this.timer.refresh();
      from.resume();
    });
    const passEndOn = (): void => {
      to.end();
      this.halfClosed();
    };
    // Node tells the end of a socket without bytes even while it is paused, which may be before there was a backend.
    if (from.readableEnded) passEndOn();
    else from.once('end', passEndOn).resume();
  }

  private watch(side: Socket, reason: Layer4Reason): void {
    side.allowHalfOpen = true;
    side.on('error', () => undefined);
    side.once('close', () => {
      // In order: both directions of this side are through. The other side may still have bytes to take.
      if (side.readableEnded && side.writableFinished) this.finish();
      else this.abort(reason);
    });
    watchForReset(side);
    readInTurns(side);
  }

  private halfClosed(): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.timer = this.expireAfter(this.limits.tcpHalfClosedTimeout, 'tcp-half-closed');
  }

  private finish(): void {
    if (this.client.destroyed && this.backend.destroyed) this.end(undefined);
  }

  private end(reason: Layer4Reason | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.observer.ended(reason);
  }

  private expireAfter(delay: number, limit: Limit): NodeJS.Timeout {
    return setTimeout(() => {
      this.observer.reached(limit);
      this.abort('idle');
    }, delay).unref();
  }
}
