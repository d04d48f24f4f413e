import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Buffered, WatchedInput } from '../limits/buffered.ts';
import type { SharedQuota } from '../../fairness/shared-quota.ts';
import { readBuffer, readPiece } from '../limits/read-buffer.ts';
import { everyPieceInTurns } from './read-in-turns.ts';
import { monotonicNow } from '../../time/clock.ts';
import { afterClosing } from './after-closing.ts';
import { readInto } from './direct.ts';
import { joinShortPieces } from './join-pieces.ts';
import { Output } from './output.ts';
import { watchForReset } from './reset-probe.ts';
import { isHttp2Stream, reset } from './reset.ts';
import { Timer } from './timer.ts';

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
  /** Whether the bytes of the client may bypass its stream from now on, because nobody else looks at them there. By default they may. */
  mayReadDirectly?(): boolean;
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
  private timer: Timer;
  /** The time of the last byte, by `monotonicNow`. */
  private activeAt = monotonicNow();
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
    this.carry(client, backend, {
      arrived: (bytes) => {
        this.activeAt = monotonicNow();
        observer.received(bytes);
      },
      mayReadDirectly: () => observer.mayReadDirectly?.() !== false,
    });
    this.carry(backend, client, {
      arrived: (bytes) => {
        this.activeAt = monotonicNow();
        observer.sent(bytes);
      },
      mayReadDirectly: () => true,
    });
  }

  /** Resets both sides without calling the observer. */
  abort(): void {
    this.isOver = true;
    this.timer.cancel();
    reset(this.client);
    reset(this.backend);
  }

  private carry(
    from: Duplex,
    to: Duplex,
    { arrived, mayReadDirectly }: Pick<Course, 'arrived' | 'mayReadDirectly'>,
  ): void {
    const { buffered, address } = this.observer;
    const waiting = new Buffered(buffered, address);
    to.once('close', () => waiting.close());
    const unread = this.watchInput(from, new Buffered(buffered, address));
    const direction = new Direction(from, to, {
      arrived: (bytes) => {
        unread?.taken();
        arrived(bytes);
      },
      mayReadDirectly,
      waiting,
      drained: () => (this.activeAt = monotonicNow()),
      overflow: () => this.fail('overloaded'),
    });
    direction.begin();
    const passEndOn = (): void => {
      to.end();
      this.halfClosed();
    };
    // Node emits the end of a socket without bytes even while it is paused, possibly before there was a backend.
    if (from.readableEnded) passEndOn();
    else from.once('end', passEndOn).resume();
  }

  /** Unlike a socket, a stream of HTTP/2 holds as much as its window allows while it is paused. */
  private watchInput(from: Duplex, unread: Buffered): WatchedInput | undefined {
    if (from instanceof Socket) return undefined;
    const input = new WatchedInput(from, unread, () => this.fail('overloaded'));
    from.once('close', () => input.stop());
    return input;
  }

  private watch(side: Duplex, failure: RelayFailure): void {
    side.allowHalfOpen = true;
    side.on('error', () => undefined);
    side.once('close', () => {
      afterClosing.add(() => {
        // Both directions of this side have ended in order. The other side may still have bytes to read.
        if (side.readableEnded && side.writableFinished && !wasReset(side)) this.finish();
        else this.fail(failure);
      });
    });
    watchForReset(side);
  }

  private halfClosed(): void {
    if (this.isOver) return;
    this.timer.cancel();
    this.activeAt = monotonicNow();
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
    this.timer.cancel();
    this.observer.ended(failure);
  }

  /** The timer is not set again with each piece. */
  private expireAfter(time: keyof RelayTimeouts, after = this.timeouts[time]): Timer {
    return new Timer(after, () => {
      const left = this.activeAt + this.timeouts[time] - monotonicNow();
      if (left <= 0) this.fail(time);
      else this.timer = this.expireAfter(time, Math.ceil(left));
    });
  }
}

/** What happens to the bytes of one direction. */
interface Course {
  readonly arrived: (bytes: number) => void;
  readonly drained: () => void;
  /** Whether the sender's bytes may bypass its stream from now on. */
  readonly mayReadDirectly: () => boolean;
  /** Bytes that wait for the receiver. */
  readonly waiting: Buffered;
  readonly overflow: () => void;
}

/**
 * One direction of a relay. The first bytes pass through the streams, because others may have left them there. From then on, bytes
 * between two sockets are read and written directly.
 */
class Direction {
  private readonly from: Duplex;
  private readonly to: Duplex;
  private readonly course: Course;
  private readonly inTurn: (bytes: number) => void;
  private readonly join: (piece: Buffer) => void;
  /** Defined while bytes are read directly. */
  private output: Output | undefined;

  constructor(from: Duplex, to: Duplex, course: Course) {
    this.from = from;
    this.to = to;
    this.course = course;
    this.inTurn = from instanceof Socket ? everyPieceInTurns(from) : () => undefined;
    this.join = joinShortPieces(from, this.pass);
  }

  begin(): void {
    this.from.on('data', this.take);
    this.to.on('drain', this.drained);
  }

  private readonly take = (piece: Buffer): void => {
    this.course.arrived(piece.length);
    this.inTurn(piece.length);
    this.join(piece);
  };

  private readonly pass = (bytes: Buffer): void => {
    if (this.output === undefined) this.write(bytes);
    else this.writeDirectly(bytes, this.output);
  };

  private write(chunk: Buffer): void {
    const { from, to, course } = this;
    // Bytes for a closed side are dropped; its close event ends this side, too.
    if (to.destroyed || to.writableEnded) return;
    if (!to.write(chunk)) from.pause();
    if (!course.waiting.update(to.writableLength, chunk.length)) course.overflow();
    else this.readDirectly();
  }

  private readDirectly(): void {
    const { from, to, course } = this;
    if (!(from instanceof Socket) || !(to instanceof Socket) || from.destroyed) return;
    if (from.readableLength > 0 || from.isPaused() || !course.mayReadDirectly()) return;
    if (!readInto(from, readBuffer, (length) => this.take(readPiece(length)))) return;
    from.off('data', this.take);
    to.off('drain', this.drained);
    this.output = new Output(to, this.drained);
    this.output.share();
  }

  private writeDirectly(bytes: Buffer, output: Output): void {
    const { from, course } = this;
    output.writeBytes(bytes);
    const { waiting } = output;
    if (waiting === 0) return;
    if (output.isFull) from.pause();
    if (!course.waiting.update(waiting, bytes.length)) course.overflow();
  }

  private readonly drained = (): void => {
    const { from, to, output, course } = this;
    course.drained();
    course.waiting.update(output?.waiting ?? to.writableLength);
    from.resume();
  };
}

/** HTTP/2 streams emit their end before they report a reset. */
function wasReset(connection: Duplex): boolean {
  return isHttp2Stream(connection) && connection.aborted;
}
