import { setImmediate as othersFirst } from 'node:timers/promises';
import { monotonicNow } from '../time/clock.ts';
import type { SharedSlice } from '../time/slices.ts';

/** Milliseconds of work after which the peers pause for as long. */
const workOfTurn = 5;

/**
 * The work for the messages of several peers, one at a time. It pauses for as long as it takes, so these peers get at most half of the
 * time of this process. All such groups of peers share a slice in each turn of the event loop: when a controller starts, the peers of many
 * connect at once.
 */
export class WorkTurns {
  private readonly waiting = new Set<() => void>();
  private isTaken = false;
  /** Milliseconds of work since the last pause. */
  private worked = 0;
  private readonly slice: SharedSlice;
  private readonly now: () => number;

  /** `slice` is the one of all groups. `now` returns milliseconds. */
  constructor(slice: SharedSlice, now: () => number = monotonicNow) {
    this.slice = slice;
    this.now = now;
  }

  /** Does the work when it is its turn, and rejects if it does. Resolves without it if `gone` aborts before. */
  async take(work: () => unknown, gone: AbortSignal): Promise<void> {
    if (gone.aborted || (this.isTaken && !(await this.wait(gone)))) return;
    this.isTaken = true;
    while (this.slice.isUsedUp()) await othersFirst();
    const began = this.now();
    try {
      // It may have gone in the moment in which its turn began.
      if (!gone.aborted) await this.begin(work);
    } finally {
      this.worked += this.now() - began;
      this.pause();
    }
  }

  /** Most work is done when it returns, and counts before others begin. */
  private begin(work: () => unknown): unknown {
    const began = this.now();
    try {
      return work();
    } finally {
      this.slice.note(this.now() - began);
    }
  }

  /** Resolves to whether it is the turn of the caller: not if `gone` aborts before. */
  private wait(gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.waiting.delete(begin);
        resolve(false);
      };
      const begin = (): void => {
        gone.removeEventListener('abort', leave);
        resolve(true);
      };
      this.waiting.add(begin);
      gone.addEventListener('abort', leave, { once: true });
    });
  }

  private pause(): void {
    if (this.worked < workOfTurn) {
      setImmediate(() => this.next());
      return;
    }
    setTimeout(() => this.next(), this.worked);
    this.worked = 0;
  }

  private next(): void {
    const [begin] = this.waiting;
    if (begin === undefined) {
      this.isTaken = false;
      return;
    }
    this.waiting.delete(begin);
    begin();
  }
}
