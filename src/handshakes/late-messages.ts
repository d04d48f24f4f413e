import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { monotonicNow } from '../time/clock.ts';
import { readingOf } from './reading.ts';

/** Updates of keys, session tickets and refused handshakes in a row. Each update of the other side's keys may require one of our own. */
const maxInRow = 64;
/** Milliseconds after which the next message begins a new row. */
const rowEnds = 1_000;

/**
 * Calls `exceeded` once if the other side of an established TLS connection sends too many messages of the handshake protocol: updates of keys (RFC
 * 8446 section 4.6.3), session tickets (section 4.6.1), and requests of a server for another handshake (RFC 5246 section 7.4.1.1), which are
 * refused. They contain no data, so without a limit TLS processes up to 80,000 of them, in more than a second, before any other connection
 * is read. The connection is no longer read, and the caller closes it.
 *
 * @param carrier the connection below `decrypted`
 */
export function limitLateMessages(decrypted: TLSSocket, carrier: Socket, exceeded: () => void): void {
  let inRow = 0;
  let last = 0;
  const count = (): void => {
    const now = monotonicNow();
    inRow = now - last > rowEnds ? 1 : inRow + 1;
    last = now;
    if (inRow <= maxInRow) return;
    decrypted.off('keylog', count).off('session', count).off('secure', count);
    readingOf(carrier)?.readStop();
    // TLS is in the middle of a call, so it cannot be closed yet.
    setImmediate(exceeded);
  };
  // Keys are logged when they change. Nobody looks at them. After a refused request for another
  // handshake, the connection is secure once more.
  decrypted.on('keylog', count).on('session', count).on('secure', count);
}

/**
 * Closes an established TLS connection after an invalid record. Node only emits an error, whose listeners wait for the event `close` as with other
 * connections. Without the end of the connection, TLS would keep all further bytes in memory, and read none of them.
 */
export function closeAfterErrors(decrypted: TLSSocket): void {
  decrypted.on('error', () => decrypted.destroy());
}
