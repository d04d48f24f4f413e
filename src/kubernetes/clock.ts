/** Time as this folder sees it, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds on a clock that never jumps; only differences mean something. */
  now(): number;
  /** The calendar's time, for what other people read. */
  date(): Date;
  /** Resolves after `delay` milliseconds, or as soon as `signal` is aborted. Never rejects. */
  sleep(delay: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
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

/** A signal that follows `parent` and has a deadline of its own. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Begins the time anew, with as much of it as at first unless told. Never makes it shorter. */
  extend(delay?: number): void;
  /** Must be called when nobody waits any more. */
  clear(): void;
}

/** Aborts with `reason` after `delay` milliseconds without `extend`, or with the parent's reason when that one is aborted. */
export function createDeadline(clock: Clock, delay: number, reason: () => Error, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const cleared = new AbortController();
  let end = clock.now() + delay;
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  parent?.addEventListener('abort', follow);
  const expire = async () => {
    let remaining = delay;
    do {
      await clock.sleep(remaining, cleared.signal);
      if (cleared.signal.aborted) return;
      remaining = end - clock.now();
    } while (remaining > 0);
    controller.abort(reason());
  };
  void expire();
  return {
    signal: controller.signal,
    // The one timer finds out when it fires: a busy watch does this thousands of times before.
    extend(remaining = delay) {
      end = Math.max(end, clock.now() + remaining);
    },
    clear() {
      // Without a reason of ours there would be an error with a stack trace, for each request.
      cleared.abort('cleared');
      parent?.removeEventListener('abort', follow);
    },
  };
}
