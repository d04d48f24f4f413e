import type { Socket } from 'node:net';
import { NextTurn } from '../time/next-turn.ts';
import { peerOf } from './peer.ts';

/** Connections that are read in one turn of the event loop. The most expensive flight of a client takes some milliseconds. */
const perTurn = 8;
/** Milliseconds before all connections have another turn if none completed its handshake: silent ones must take little of the processor. */
const pauseOfRound = 20;

/** What reads a connection below its streams. */
interface Reading {
  readStart(): number;
  readStop(): number;
}

/**
 * Reads connections whose TLS handshake has begun in turns, until it is complete. A handshake has more than one expensive step: after a
 * HelloRetryRequest the client sends a second ClientHello (RFC 8446 section 4.1.4), and in TLS 1.2 its key exchange. TLS takes the bytes
 * of a connection below its stream. So only a few connections are read in each turn of the event loop, while there are more than these.
 */
export class LaterFlights {
  /** By the client's address and port, the next one first. */
  private readonly waiting = new Map<string, Socket>();
  /** Those that are read in this turn. */
  private open = new Set<Socket>();
  /** Connections that were read in this round, and whether one left. */
  private read = 0;
  private isProgressing = false;
  private readonly next = new NextTurn(() => this.turn());

  /** Adds a connection whose first flight was processed. It leaves when it closes. */
  add(socket: Socket): void {
    const key = peerOf(socket);
    if (socket.destroyed || this.waiting.has(key)) return;
    this.waiting.set(key, socket);
    socket.once('close', () => this.remove(key, socket));
    if (this.waiting.size <= perTurn) {
      this.open.add(socket);
      return;
    }
    readingOf(socket)?.readStop();
    this.next.request();
  }

  /** The handshake of a connection is complete; `decrypted` is this connection or the TLS socket above it. */
  done(decrypted: Socket): void {
    const key = peerOf(decrypted);
    const socket = this.waiting.get(key);
    if (socket === undefined) return;
    if (!this.open.has(socket)) readingOf(socket)?.readStart();
    this.remove(key, socket);
  }

  private remove(key: string, socket: Socket): void {
    if (this.waiting.get(key) === socket) this.waiting.delete(key);
    this.open.delete(socket);
    this.isProgressing = true;
  }

  private turn(): void {
    for (const socket of this.open) readingOf(socket)?.readStop();
    this.open = new Set();
    for (const [key, socket] of this.waiting.entries().take(perTurn)) {
      this.waiting.delete(key);
      this.waiting.set(key, socket);
      this.open.add(socket);
      readingOf(socket)?.readStart();
    }
    this.read += perTurn;
    const isPausing = this.read >= this.waiting.size && !this.isProgressing;
    if (this.read >= this.waiting.size) [this.read, this.isProgressing] = [0, false];
    if (this.waiting.size <= perTurn) return;
    if (isPausing) this.next.requestAfter(pauseOfRound);
    else this.next.request();
  }
}

/** `undefined` for a connection that is closed or has no descriptor; it is read as it comes. */
function readingOf(socket: Socket): Reading | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Partial<Reading> | null };
  return typeof handle?.readStop === 'function' && typeof handle.readStart === 'function'
    ? (handle as Reading)
    : undefined;
}
