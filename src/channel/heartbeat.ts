import type { Http2Session } from 'node:http2';

/**
 * Pings the other end every `interval` milliseconds, and ends the session if a ping is not acknowledged before the next
 * one: a machine that has disappeared closes nothing.
 */
export function keepAlive(session: Http2Session, interval: number): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    // A destroyed session closes later, together with its socket, and must not be pinged in between.
    if (session.destroyed) return;
    if (!isAnswered) {
      session.destroy();
      return;
    }
    isAnswered = false;
    session.ping((error) => {
      isAnswered ||= error === null;
    });
  }, interval);
  timer.unref();
  session.once('close', () => clearInterval(timer));
}
