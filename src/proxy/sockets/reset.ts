import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** RFC 9113 section 7. */
export const cancel = 8;

/**
 * Ends a connection so that its peer recognizes the bytes as incomplete: a TCP connection with a reset, TLS without a
 * close_notify alert (RFC 8446 section 6.1), an HTTP/2 stream with RST_STREAM (RFC 8441 section 5).
 */
export function reset(connection: Duplex): void {
  if (connection.destroyed) return;
  if (isHttp2Stream(connection)) {
    connection.close(cancel);
    return;
  }
  // Node cannot reset a socket while it shuts down: the socket would stay open. Closing the socket below TLS directly
  // would crash the process.
  const isShuttingDown = connection.writableEnded && !connection.writableFinished;
  if (connection instanceof Socket && !(connection instanceof TLSSocket) && !isShuttingDown)
    connection.resetAndDestroy();
  else connection.destroy();
}

/** A stream of an HTTP/2 connection. */
export interface ResettableStream {
  /** Whether the other side has reset it. */
  readonly aborted: boolean;
  readonly rstCode?: number | undefined;
  /** Resets it with an error code (RFC 9113 section 7). */
  close(code: number): void;
}

/** Whether a connection that has switched protocols is an HTTP/2 stream. */
export function isHttp2Stream(connection: Duplex): connection is Duplex & ResettableStream {
  return 'rstCode' in connection;
}
