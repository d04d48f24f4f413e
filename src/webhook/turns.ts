import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from '../time/clock.ts';

/** Milliseconds that one review, or the audit, may run before it yields to others. */
export const slice = 10;
/** Maximum number of turns of the event loop between two slices. */
const maxTurns = 4;

/** The slices of one review, or of one round of the audit. */
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
    const used = Math.floor((this.now() - this.began) / slice);
    for (let turn = 0; turn < Math.min(Math.max(used, 1), maxTurns); turn += 1) await othersFirst();
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

/** A queue of limited length that admits one caller at a time. */
export class Turns {
  private readonly most: number;
  private readonly callers = new Set<() => void>();
  private isTaken = false;

  /** @param most maximum number of waiting callers */
  constructor(most: number) {
    this.most = most;
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
    if (this.callers.size >= this.most) return undefined;
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
