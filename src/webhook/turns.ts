import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from '../time/clock.ts';

/** Milliseconds that reviews, or the audit, may run before they yield to others. */
export const slice = 10;
/** Maximum number of turns of the event loop between two slices. */
const maxTurns = 4;

function turnsAfter(used: number): number {
  return Math.min(Math.max(Math.floor(used / slice), 1), maxTurns);
}

/** The slices of one round of the audit. */
export class Slices {
  private readonly now: () => number;
  private began: number;

  /** Begins the first slice. @param now monotonic milliseconds */
  constructor(now: () => number = monotonicNow) {
    this.now = now;
    this.began = now();
  }

  get isUsedUp(): boolean {
    return this.now() - this.began >= slice;
  }

  /**
   * Begins the next slice after a turn of the event loop, or after as many turns as slices were used: some steps take several, and a
   * connection that arrived in the meantime needs a turn to be accepted and one to be read. Awaiting a settled promise would not
   * let timers and requests run.
   */
  async next(): Promise<void> {
    const turns = turnsAfter(this.now() - this.began);
    for (let turn = 0; turn < turns; turn += 1) await othersFirst();
    this.began = this.now();
  }
}

/** Runs all steps in slices, and yields to the event loop in between. Several calls can share slices. */
export async function inSlices<T>(steps: Steps<T>, slices = new Slices()): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (slices.isUsedUp) await slices.next();
  }
}

/**
 * Runs the steps of many reviews. All of them together use at most one slice between two turns of the event loop: hundreds of short
 * reviews that arrive together would otherwise take as long as a single one without slices. A review that uses up a slice lets the
 * others run first. The event loop gets its turn once a slice is used up, not after each review, which would cost one more poll.
 */
export class SharedSlices {
  private readonly now: () => number;
  /** The runs with steps left, in the order of their turns. Each runs one step, and returns whether it was the last. */
  private readonly waiting = new Set<() => boolean>();
  /** Milliseconds used since the event loop last got its turn. */
  private used = 0;
  private isPausing = false;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = monotonicNow) {
    this.now = now;
  }

  /** Runs all steps. Begins immediately if the slice is not used up. */
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
      if (this.used >= slice) break;
      this.waiting.delete(run);
      if (!this.isDone(run)) this.waiting.add(run);
    }
    if (this.used >= slice && !this.isPausing) void this.pause();
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
    for (let turn = 0; turn < turnsAfter(this.used); turn += 1) await othersFirst();
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
