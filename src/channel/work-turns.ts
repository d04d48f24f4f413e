import { monotonicNow } from '../time/clock.ts';

/** Milliseconds of work after which the peers pause for as long. */
const workOfTurn = 5;

/**
 * The work for the messages of several peers, one at a time. It pauses for as long as it takes, so these peers get at most half of the
 * time of this process.
 */
export class WorkTurns {
  private readonly waiting = new Set<() => void>();
  private isTaken = false;
  /** Milliseconds of work since the last pause. */
  private worked = 0;
  private readonly now: () => number;

  /** `now` returns milliseconds. */
  constructor(now: () => number = monotonicNow) {
    this.now = now;
  }

  /** Does the work when it is its turn, and rejects if it does. Resolves without it if `gone` aborts before. */
  async take(work: () => unknown, gone: AbortSignal): Promise<void> {
    if (gone.aborted || (this.isTaken && !(await this.wait(gone)))) return;
    this.isTaken = true;
    const began = this.now();
    try {
      // It may have gone in the moment in which its turn began.
      if (!gone.aborted) await work();
    } finally {
      this.worked += this.now() - began;
      this.pause();
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
