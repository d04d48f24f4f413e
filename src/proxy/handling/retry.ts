import type { Retry } from '../../core/routing/config.ts';

/** A compiled retry policy (HTTPRouteRetry). */
export interface RetryPolicy {
  /** Total number of tries, including the first one. */
  readonly tries: number;
  /** Backend statuses that are retried. */
  readonly codes: ReadonlySet<number>;
  /** Milliseconds to wait after this number of tries. */
  delayAfter(tries: number): number;
}

const defaultBackoff = 25;
const longestBackoff = 1_000;
/** Without it, a backoff of 0 would never grow. */
const shortestBackoff = 1;

/**
 * Compiles a retry policy. Delays double with each try, up to a second (or the configured backoff if that is longer).
 * Each delay varies randomly by a quarter, so that requests that failed together are not retried together.
 */
export function compileRetry({ attempts, codes, backoff }: Retry): RetryPolicy {
  const base = Math.max(backoff ?? defaultBackoff, shortestBackoff);
  const longest = Math.max(base, longestBackoff);
  return {
    tries: attempts + 1,
    codes: new Set(codes),
    delayAfter: (tries) => Math.min(base * 2 ** (tries - 1), longest) * (0.75 + Math.random() / 2),
  };
}
