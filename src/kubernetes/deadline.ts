import type { Clock } from '../time/clock.ts';

/** A signal that follows `parent` and has its own deadline. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the timeout, with `delay` milliseconds or the initial delay. Never shortens it. */
  extend(delay?: number): void;
  /** Must be called once the signal is no longer needed. */
  clear(): void;
}

/** Aborts with `reason` after `delay` milliseconds without `extend`, or with the parent's reason if that is aborted first. */
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
    // The single timer checks the deadline when it fires, because a busy watch extends it thousands of times.
    extend(remaining = delay) {
      end = Math.max(end, clock.now() + remaining);
    },
    clear() {
      // Without an explicit reason, each request would create an error with a stack trace.
      cleared.abort('cleared');
      parent?.removeEventListener('abort', follow);
    },
  };
}
