/** The current day in UTC, `2026-11-23`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}
