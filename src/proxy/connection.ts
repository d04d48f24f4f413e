import type { Duplex } from 'node:stream';
import type { ListenerConfig } from '../core/routing/config.ts';
import type { Peer } from './forwarding-fields.ts';
import type { AnswerReason } from './reasons.ts';

/** A client's connection as the handling of requests sees it. */
export interface Connection {
  readonly peer: Peer;
  /** The listener that serves a host on this connection, or why none does. */
  listenerFor(host: string): ListenerConfig | AnswerReason;
  /** The connection is to end: each further answer says so. */
  isDraining(): boolean;
  /** A request has begun, where none was under way. */
  busy(): void;
  /** No request is under way any more: the connection may have to make room for another one. */
  idle(): void;
}

const lingering = 2_000;

/**
 * Ends a connection so that the client can read what was written, even while it is still sending: closing with unread
 * input would reset the connection and could take the answer along (RFC 9112 section 9.6). What still comes in is
 * thrown away, for a bounded time.
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
