import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { carrierOf } from '../reset-probe.ts';

/**
 * Ends a connection so that its peer cannot take the bytes that came for all of them: with a TCP reset, of TLS without a
 * close_notify alert (RFC 8446 section 6.1).
 */
export function reset(socket: Socket): void {
  if (socket.destroyed) return;
  const below = socket instanceof TLSSocket ? carrierOf(socket) : socket;
  // Node cannot reset a socket while it shuts down: the socket would stay open.
  const isShuttingDown = socket.writableEnded && !socket.writableFinished;
  if (below === undefined || below instanceof TLSSocket || isShuttingDown) socket.destroy();
  else {
    below.resetAndDestroy();
    if (below !== socket) socket.destroy();
  }
}
