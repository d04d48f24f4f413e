import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from './clock.ts';

/** Milliseconds that work of many steps may run before it yields to others. */
export const slice = 10;
/** Maximum number of turns of the event loop between two slices. */
const maxTurns = 4;

/** The turns of the event loop after work of so many milliseconds. */
export function turnsAfter(used: number): number {
  return Math.min(Math.max(Math.floor(used / slice), 1), maxTurns);
}

/** The slices of work of many steps. */
export class Slices {
  private readonly now: () => number;
  private began: number;

  /** Begins the first slice. @param now monotonic milliseconds */
  constructor(now: () => number = monotonicNow) {
    this.now = now;
    this.began = now();
  }

  get isUsedUp(): boolean {
    return this.used >= slice;
  }

  /** Milliseconds since the slice began. */
  get used(): number {
    return this.now() - this.began;
  }

  /**
   * Begins the next slice after a turn of the event loop, or after as many turns as slices were used: some steps take several, and a
   * connection that arrived in the meantime needs a turn to be accepted and one to be read. Awaiting a settled promise would not
   * let timers and requests run.
   */
  async next(): Promise<void> {
    const turns = turnsAfter(this.used);
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
