import type { Duplex } from 'node:stream';
import type { ListenerConfig } from '../../core/routing/config.ts';
import type { Peer } from './forwarding-fields.ts';
import type { AnswerReason } from './reasons.ts';

/** A client's connection, as seen by request handling. */
export interface Connection {
  readonly peer: Peer;
  /** The listener for a host on this connection, or the reason why there is none. */
  listenerFor(host: string): ListenerConfig | AnswerReason;
  /** Whether the connection is draining: each further response announces its end. */
  isDraining(): boolean;
  /** A request has begun on an idle connection. */
  busy(): void;
  /** No request is in progress any more: the connection may be closed to make room for another one. */
  idle(): void;
}

const lingering = 2_000;

/**
 * Ends a connection so that the client can read what was written, even while it is still sending. Closing with unread
 * input would reset the connection and could discard the response (RFC 9112 section 9.6). Further input is discarded,
 * for a limited time.
 */
export function closeGently(socket: Duplex, lastWords?: Buffer): void {
  socket.on('error', () => undefined);
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingering).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  if (lastWords === undefined) socket.end();
  else socket.end(lastWords);
  socket.resume();
}
