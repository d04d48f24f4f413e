/** What the API server waits where a webhook configuration names no timeout, and at most. */
const usualTimeout = 10_000;
const longestTimeout = 30_000;

/**
 * Milliseconds left for an answer. The API server sends how long it waits as `?timeout=10s`, in whole seconds.
 *
 * @param timeout the value of that parameter, of any shape
 * @param elapsed milliseconds since the request arrived
 */
export function remainingBudget(timeout: unknown, elapsed: number): number {
  const seconds = typeof timeout === 'string' ? /^([0-9]{1,3})s$/.exec(timeout)?.[1] : undefined;
  const allowed = seconds === undefined ? usualTimeout : Math.min(Number(seconds) * 1000, longestTimeout);
  return Math.max(0, allowed - elapsed);
}
