import { ActionInTurns } from '../../time/slices.ts';

// setTimeout accepts a signed 32-bit integer; greater delays fire immediately.
const longestDelay = 2 ** 31 - 1;

/** Timers whose time is over. Requests can be timed such that thousands of timeouts are due at the same moment. */
const due = new ActionInTurns<Timer>((timer) => timer.run());

/** A timer for any number of milliseconds, which does not keep the process alive. A few of those that are due run in each turn of the event loop. */
export class Timer {
  private handle: NodeJS.Timeout | undefined;
  private remaining: number;
  private isOver = false;
  private readonly expire: () => void;

  constructor(delay: number, expire: () => void) {
    this.remaining = delay;
    this.expire = expire;
    this.next();
  }

  cancel(): void {
    clearTimeout(this.handle);
    this.isOver = true;
  }

  /** Expires unless the timer was cancelled while others ran. */
  run(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.expire();
  }

  private next(): void {
    const delay = Math.min(this.remaining, longestDelay);
    this.remaining -= delay;
    this.handle = setTimeout(() => (this.remaining > 0 ? this.next() : due.add(this)), delay);
    this.handle.unref();
  }
}
