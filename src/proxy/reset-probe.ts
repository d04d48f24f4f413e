import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How often sockets that nobody reads are probed, in milliseconds. */
const interval = 500;
const nothing = Buffer.alloc(0);
const watched = new Set<Socket>();
/** The sockets below those of TLS. */
const carriers = new WeakMap<Socket, Socket>();
let timer: NodeJS.Timeout | undefined;

/** Says which socket carries a TLS connection: TLS does not pass an empty write on. */
export function noteCarrier(decrypted: Socket, carrier: Socket): void {
  carriers.set(decrypted, carrier);
}

/**
 * Watches a connection until it closes: if the other side resets it while nobody reads it, it closes within half a second.
 *
 * The event loop asks the kernel about a socket only while it reads or writes it. A socket that is paused, because what
 * comes has no place to go, would outlive its peer. Writing no bytes sends nothing, but fails where the connection is gone.
 * A peer that ends its side in order is noticed only when everything before the end has been read.
 */
export function watchForReset(connection: Duplex): void {
  // A stream of HTTP/2 is no socket: its connection is always read.
  if (!(connection instanceof Socket) || watched.has(connection) || connection.destroyed) return;
  watched.add(connection);
  connection.once('close', () => forget(connection));
  timer ??= setInterval(probe, interval).unref();
}

function forget(socket: Socket): void {
  watched.delete(socket);
  if (watched.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function probe(): void {
  for (const socket of watched) {
    const isUnread = socket.isPaused() || socket.readableEnded;
    // While something waits to be written, the kernel tells of a reset by itself.
    if (isUnread && socket.writable && socket.writableLength === 0) (carriers.get(socket) ?? socket).write(nothing);
  }
}
