import type { Socket } from 'node:net';
import { NextTurn } from '../time/next-turn.ts';
import { readingOf } from './reading.ts';
import { Rounds } from './rounds.ts';

/** Connections that are read in one turn of the event loop. The most expensive flight of a client takes some milliseconds. */
const perTurn = 8;
/** Milliseconds before all connections have another turn if none completed its handshake: silent ones must take little of the processor. */
const pauseOfRound = 20;
/**
 * A HelloRetryRequest and the compatible ChangeCipherSpec after it have at most 99 bytes (RFC 8446 section 4.1.4): no cookie, and one
 * group. Whatever else answers a ClientHello is longer.
 */
const longestRetry = 128;

/**
 * Reads connections whose TLS handshake has begun in turns, until it is complete. A handshake has more than one expensive step: after a
 * HelloRetryRequest the client sends a second ClientHello (RFC 8446 section 4.1.4), and in TLS 1.2 its key exchange. TLS takes the bytes
 * of a connection below its stream. So only a few connections are read in each turn of the event loop, while there are more than these.
 *
 * After another answer than a HelloRetryRequest, the next expensive step is the last one: the handshake is complete, or fails. Such
 * connections are read as they come, until too many handshakes are complete in one turn.
 */
export class LaterFlights {
  /** Connections that are read as they come. */
  private readonly free = new Set<Socket>();
  /** Those that are read in turns, the next one first. */
  private readonly waiting = new Set<Socket>();
  /** Those of them that are read in this turn. */
  private open = new Set<Socket>();
  private readonly rounds = new Rounds();
  private readonly next = new NextTurn(() => this.turn());
  /** Handshakes that were completed in this turn. */
  private completed = 0;
  private readonly end = new NextTurn(() => (this.completed = 0));

  /** Adds a connection after the answer to its first flight. */
  add(socket: Socket): void {
    if (socket.destroyed || this.waiting.has(socket)) return;
    if (socket.bytesWritten > longestRetry && this.completed < perTurn) this.free.add(socket);
    else if (this.waiting.size < perTurn) {
      this.waiting.add(socket);
      this.open.add(socket);
    } else this.hold(socket);
  }

  /** The handshake of a connection is complete, it failed, or the connection is closed. */
  done(socket: Socket): void {
    if (!this.free.delete(socket)) {
      if (!this.waiting.delete(socket)) return;
      if (!this.open.delete(socket)) readingOf(socket)?.readStart();
      this.rounds.progressed();
    }
    this.completed += 1;
    this.end.request();
    if (this.completed === perTurn) this.holdAll();
  }

  /** The others must wait for the next turn. */
  private holdAll(): void {
    for (const socket of this.free) this.hold(socket);
    this.free.clear();
  }

  private hold(socket: Socket): void {
    this.waiting.add(socket);
    readingOf(socket)?.readStop();
    this.next.request();
  }

  private turn(): void {
    for (const socket of this.open) readingOf(socket)?.readStop();
    this.open = new Set();
    for (const socket of this.waiting.values().take(perTurn)) {
      this.waiting.delete(socket);
      this.waiting.add(socket);
      this.open.add(socket);
      readingOf(socket)?.readStart();
    }
    const hasIdled = this.rounds.hasIdled(perTurn, this.waiting.size);
    if (this.waiting.size <= perTurn) return;
    if (hasIdled) this.next.requestAfter(pauseOfRound);
    else this.next.request();
  }
}
