import { wallNow } from '../time/clock.ts';

/** The current day in UTC, `2026-11-23`. */
export function today(): string {
  return new Date(wallNow()).toISOString().slice(0, 10);
}
