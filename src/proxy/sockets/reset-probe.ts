import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { eachInTurns } from '../../time/slices.ts';
import { LinkedSet } from '../limits/linked-set.ts';

/** Interval in milliseconds at which unread sockets are probed. */
const interval = 500;
const nothing = Buffer.alloc(0);
const watched = new LinkedSet<Socket>(Symbol('watched'));
/** The property of a TLS socket with the socket below it. A WeakMap with an entry for each connection takes time of the garbage collection. */
const carrier = Symbol('carrier');
let timer: NodeJS.Timeout | undefined;

/** Records the socket below a TLS connection, because TLS does not pass on an empty write. */
export function noteCarrier(decrypted: Carried, below: Socket): void {
  decrypted[carrier] = below;
}

interface Carried extends Socket {
  [carrier]?: Socket;
}

/**
 * Watches a connection until it closes: if the peer resets it while it is not read, it closes within half a second.
 *
 * The event loop polls a socket only while it reads or writes it. A paused socket would outlive its peer. An empty
 * write sends nothing, but fails on a lost connection. An orderly end of the peer is noticed only after all earlier
 * bytes have been read.
 */
export function watchForReset(connection: Duplex): void {
  // An HTTP/2 stream is not a socket, and its connection is always read.
  if (!(connection instanceof Socket) || watched.has(connection) || connection.destroyed) return;
  watched.add(connection);
  connection.once('close', () => forget(connection));
  timer ??= setInterval(probeAll, interval).unref();
}

function forget(socket: Socket): void {
  watched.delete(socket);
  if (watched.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** In turns, because thousands of clients may have reset their connections. */
function probeAll(): void {
  void eachInTurns(watched, probe);
}

function probe(socket: Socket): void {
  const isUnread = socket.isPaused() || socket.readableEnded;
  // With pending writes, the kernel reports a reset by itself.
  if (isUnread && socket.writable && socket.writableLength === 0)
    ((socket as Carried)[carrier] ?? socket).write(nothing);
}
