// setTimeout accepts a signed 32-bit integer; greater delays fire immediately.
const longestDelay = 2 ** 31 - 1;

/** A timer for any number of milliseconds, which does not keep the process alive. */
export class Timer {
  private handle: NodeJS.Timeout | undefined;
  private remaining: number;
  private readonly expire: () => void;

  constructor(delay: number, expire: () => void) {
    this.remaining = delay;
    this.expire = expire;
    this.next();
  }

  cancel(): void {
    clearTimeout(this.handle);
    this.handle = undefined;
  }

  private next(): void {
    const delay = Math.min(this.remaining, longestDelay);
    this.remaining -= delay;
    this.handle = setTimeout(() => (this.remaining > 0 ? this.next() : this.expire()), delay);
    this.handle.unref();
  }
}
