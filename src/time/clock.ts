// The only place that reads the time. A part that a test controls takes a function or a `Clock` from here as an option.

/** Milliseconds of the monotonic clock. Only differences are meaningful. For durations, deadlines and limits. */
export function monotonicNow(): number {
  return performance.now();
}

let turnTime = 0;
let isTurnTimeKnown = false;

/** `monotonicNow` at an earlier moment of this turn of the event loop. For idle times, which are checked with each request. */
export function turnNow(): number {
  if (!isTurnTimeKnown) {
    turnTime = monotonicNow();
    isTurnTimeKnown = true;
    setImmediate(endTurn);
  }
  return turnTime;
}

function endTurn(): void {
  isTurnTimeKnown = false;
}

/** Milliseconds since 1970 by the wall clock, which can jump. Only for times that people or other machines read. */
export function wallNow(): number {
  return Date.now();
}

/** Time and randomness, replaceable in tests. */
export interface Clock {
  /** Monotonic milliseconds. Only differences are meaningful. */
  now(): number;
  /** Wall-clock time, for timestamps. */
  date(): Date;
  /** Resolves after `delay` milliseconds, or as soon as `signal` is aborted. Never rejects. */
  sleep(delay: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export const systemClock: Clock = {
  now: monotonicNow,
  date: () => new Date(wallNow()),
  sleep: (delay, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, delay);
      signal?.addEventListener('abort', finish);
    }),
  random: () => Math.random(),
};
