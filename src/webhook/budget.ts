/** The API server's default timeout for a webhook, and its maximum. */
const usualTimeout = 10_000;
const longestTimeout = 30_000;

/**
 * Returns the milliseconds left for a response. The API server sends its timeout as `?timeout=10s`, in whole seconds.
 *
 * @param timeout the value of that parameter, of any type
 * @param elapsed milliseconds since the request arrived
 */
export function remainingBudget(timeout: unknown, elapsed: number): number {
  const seconds = typeof timeout === 'string' ? /^([0-9]{1,3})s$/.exec(timeout)?.[1] : undefined;
  const allowed = seconds === undefined ? usualTimeout : Math.min(Number(seconds) * 1000, longestTimeout);
  return Math.max(0, allowed - elapsed);
}
