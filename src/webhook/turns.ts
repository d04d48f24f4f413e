import type { Steps } from '../core/text/steps.ts';
import { FairQueue, type Owner } from '../fairness/fair-queue.ts';
import { isAccepting } from '../time/accepting.ts';
import { monotonicNow } from '../time/clock.ts';
import { alwaysOpen, letOthersRun, slice, type Gate } from '../time/slices.ts';

/** Milliseconds of a slice while connections wait to be accepted: Node accepts one per turn of the event loop, of all clients in order. */
const shortSlice = 1;

/** A review with steps left. */
interface Run {
  /** Runs one step, and returns whether it was the last. */
  readonly step: () => boolean;
  readonly owner: Owner;
}

/**
 * Runs the steps of many reviews. All of them together use at most one slice between two turns of the event loop: hundreds of short
 * reviews that arrive together would otherwise take as long as a single one without slices. A review that uses up a slice lets the
 * others run first. Clients take turns by their address, so that nobody else who reaches the port keeps the API server waiting, and so do
 * the users of each client. Only a few reviews of one user are in progress, because each holds its object. The event loop gets its turn when
 * a slice is used up. To give it one after each review would cost one more poll.
 *
 * No step runs while a change is applied to the evaluation: its first read would do all the work that is left.
 */
export class SharedSlices {
  private readonly now: () => number;
  private readonly readable: Gate;
  /** The runs with steps left, in the order of their turns. */
  private readonly waiting = new FairQueue<Run>();
  /** Milliseconds used since the event loop last got its turn. */
  private used = 0;
  private isPausing = false;
  private readonly isBurst: () => boolean;

  /** @param now monotonic milliseconds @param isBurst whether connections wait to be accepted */
  constructor(readable: Gate = alwaysOpen, now: () => number = monotonicNow, isBurst = isAccepting) {
    this.readable = readable;
    this.now = now;
    this.isBurst = isBurst;
  }

  /** Runs all steps of a review for this owner. Begins immediately if the slice is not used up and the evaluation can be read. */
  run<T>(steps: Steps<T>, owner: Owner): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const step = (): boolean => {
      try {
        const { done, value } = steps.next();
        if (done === true) resolve(value);
        return done === true;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    this.waiting.add({ step, owner }, owner);
    this.proceed();
    return promise;
  }

  private proceed(): void {
    while (!this.mustPause) {
      const run = this.waiting.take();
      if (run === undefined) break;
      if (!this.isDone(run)) this.waiting.putBack(run, run.owner);
    }
    if (this.mustPause && !this.isPausing) void this.pause();
  }

  /** Milliseconds that reviews may use between two turns of the event loop. */
  private get slice(): number {
    return this.isBurst() ? shortSlice : slice;
  }

  private get mustPause(): boolean {
    return this.used >= this.slice || this.readable() !== undefined;
  }

  /** Runs steps until the run or the slice is over. */
  private isDone({ step }: Run): boolean {
    const began = this.now();
    const before = this.used;
    let isDone = false;
    while (!isDone && this.used < this.slice) {
      isDone = step();
      this.used = before + this.now() - began;
    }
    return isDone;
  }

  private async pause(): Promise<void> {
    this.isPausing = true;
    await letOthersRun(this.used / this.slice, this.readable);
    this.used = 0;
    this.isPausing = false;
    if (this.waiting.size > 0) this.proceed();
  }
}

/** Tells a caller whether it is its turn (`true`), or others need its place in the queue. */
type Caller = (isTurn: boolean) => void;

/** A queue of limited length that admits one caller at a time. Clients and their users take turns, and have equal shares of a full queue. */
export class Turns {
  private readonly maxCallers: number;
  private readonly callers = new FairQueue<Caller>();
  private isTaken = false;

  /** @param maxCallers maximum number of waiting callers */
  constructor(maxCallers: number) {
    this.maxCallers = maxCallers;
  }

  get waiting(): number {
    return this.callers.size;
  }

  /** Resolves to `true` when it is the caller's turn, which `leave` ends; to `false` if the queue has no room for this owner. */
  enter(owner: Owner): Promise<boolean> {
    if (!this.isTaken) {
      this.isTaken = true;
      return Promise.resolve(true);
    }
    if (this.callers.size >= this.maxCallers) {
      const replaced = this.callers.replace(owner);
      if (replaced === undefined) return Promise.resolve(false);
      replaced(false);
    }
    return new Promise((resolve) => this.callers.add(resolve, owner));
  }

  leave(): void {
    const next = this.callers.take();
    if (next === undefined) this.isTaken = false;
    else next(true);
  }
}
