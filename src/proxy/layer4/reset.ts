import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Ends a connection so that its peer cannot take the bytes that came for all of them: with a TCP reset, of TLS without a
 * close_notify alert (RFC 8446 section 6.1).
 */
export function reset(socket: Socket): void {
  if (socket.destroyed) return;
  // Node cannot reset a socket while it shuts down: the socket would stay open. Nor may the socket below TLS be closed on its own:
  // the process would crash.
  const isShuttingDown = socket.writableEnded && !socket.writableFinished;
  if (socket instanceof TLSSocket || isShuttingDown) socket.destroy();
  else socket.resetAndDestroy();
}
