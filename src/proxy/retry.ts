import type { Retry } from '../core/routing/config.ts';

/** When a request that failed goes out again (HTTPRouteRetry), prepared for use. */
export interface RetryPolicy {
  /** All in all, the first one included. */
  readonly tries: number;
  /** Statuses of backends after which to try again. */
  readonly codes: ReadonlySet<number>;
  /** Milliseconds to wait after so many tries. */
  delayAfter(tries: number): number;
}

const defaultBackoff = 25;
const longestBackoff = 1_000;

/**
 * Prepares a retry policy: waits double from try to try, up to a second (or the configured backoff where that is
 * longer), each a quarter shorter or longer by chance, so that many requests that failed together do not come back together.
 */
export function compileRetry({ attempts, codes, backoff }: Retry): RetryPolicy {
  const base = backoff ?? defaultBackoff;
  const longest = Math.max(base, longestBackoff);
  return {
    tries: attempts + 1,
    codes: new Set(codes),
    delayAfter: (tries) => Math.min(base * 2 ** (tries - 1), longest) * (0.75 + Math.random() / 2),
  };
}
