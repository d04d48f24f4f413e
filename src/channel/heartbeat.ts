import type { Http2Session } from 'node:http2';

/**
 * Asks the other end every `interval` milliseconds for a sign of life, and ends the session when none comes until the
 * next time: a machine that is gone closes nothing.
 */
export function keepAlive(session: Http2Session, interval: number): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    // A session that is destroyed closes later, when its socket does, and must not be asked in between.
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
