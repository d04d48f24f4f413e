import { wallNow } from '../../time/clock.ts';

let dateText = '';
let dateEnds = 0;

/** The value of the Date field (RFC 9110 section 6.6.1), formatted once per second. */
export function currentDate(): string {
  const now = wallNow();
  if (now >= dateEnds || now < dateEnds - 1_000) {
    dateEnds = now - (now % 1_000) + 1_000;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
