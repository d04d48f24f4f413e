import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from '../time/clock.ts';
import { alwaysOpen, letOthersRun, slice, type Gate } from '../time/slices.ts';

/**
 * Runs the steps of many reviews. All of them together use at most one slice between two turns of the event loop: hundreds of short
 * reviews that arrive together would otherwise take as long as a single one without slices. A review that uses up a slice lets the
 * others run first. The event loop gets its turn once a slice is used up, not after each review, which would cost one more poll.
 * No step runs while a change is applied to the evaluation: its first read would do all the work that is left.
 */
export class SharedSlices {
  private readonly now: () => number;
  private readonly readable: Gate;
  /** The runs with steps left, in the order of their turns. Each runs one step, and returns whether it was the last. */
  private readonly waiting = new Set<() => boolean>();
  /** Milliseconds used since the event loop last got its turn. */
  private used = 0;
  private isPausing = false;

  /** @param now monotonic milliseconds */
  constructor(readable: Gate = alwaysOpen, now: () => number = monotonicNow) {
    this.readable = readable;
    this.now = now;
  }

  /** Runs all steps. Begins immediately if the slice is not used up and the evaluation can be read. */
  run<T>(steps: Steps<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.waiting.add(() => {
      try {
        const { done, value } = steps.next();
        if (done === true) resolve(value);
        return done === true;
      } catch (error) {
        reject(error);
        return true;
      }
    });
    this.proceed();
    return promise;
  }

  private proceed(): void {
    for (const run of this.waiting) {
      if (this.mustPause) break;
      this.waiting.delete(run);
      if (!this.isDone(run)) this.waiting.add(run);
    }
    if (this.mustPause && !this.isPausing) void this.pause();
  }

  private get mustPause(): boolean {
    return this.used >= slice || this.readable() !== undefined;
  }

  /** Runs steps until the run or the slice is over. */
  private isDone(run: () => boolean): boolean {
    const began = this.now();
    const before = this.used;
    let isDone = false;
    while (!isDone && this.used < slice) {
      isDone = run();
      this.used = before + this.now() - began;
    }
    return isDone;
  }

  private async pause(): Promise<void> {
    this.isPausing = true;
    await letOthersRun(this.used, this.readable);
    this.used = 0;
    this.isPausing = false;
    if (this.waiting.size > 0) this.proceed();
  }
}

/** A queue of limited length that admits one caller at a time. */
export class Turns {
  private readonly maxCallers: number;
  private readonly callers = new Set<() => void>();
  private isTaken = false;

  /** @param most maximum number of waiting callers */
  constructor(maxCallers: number) {
    this.maxCallers = maxCallers;
  }

  get waiting(): number {
    return this.callers.size;
  }

  /** Resolves when it is the caller's turn, which `leave` ends; `undefined` if the queue is full. */
  enter(): Promise<void> | undefined {
    if (!this.isTaken) {
      this.isTaken = true;
      return Promise.resolve();
    }
    if (this.callers.size >= this.maxCallers) return undefined;
    return new Promise((resolve) => {
      this.callers.add(resolve);
    });
  }

  leave(): void {
    const [next] = this.callers;
    if (next === undefined) {
      this.isTaken = false;
      return;
    }
    this.callers.delete(next);
    next();
  }
}
