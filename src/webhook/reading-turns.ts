import type { Socket } from 'node:net';
import { FairQueue, type Owner } from '../fairness/fair-queue.ts';
import { readingOf } from '../handshakes/reading.ts';
import { isAccepting } from '../time/accepting.ts';
import { NextTurn } from '../time/next-turn.ts';

/** Bytes that Node reads from a connection at a time. */
const bytesOfRead = 64 * 1024;
/** Bytes of all bodies that are received in a turn of the event loop, and 512 for each piece: decrypting them takes about 2 ms. */
const bytesOfTurn = 8 * bytesOfRead;
/** The same while connections wait to be accepted: Node accepts one per turn, of all clients in order. */
const bytesOfShortTurn = bytesOfRead;

/**
 * Ends the input of a turn of the event loop. Otherwise all sockets with large bodies are read at length, and probes wait. The connection
 * is stopped, not the stream of the body: this would keep what the parser has read already, in pieces of one byte if the client likes.
 * In each turn, as many connections are read again as it has room for. Clients take turns by their address, and the users of
 * each client.
 */
export class ReadingTurns {
  private taken = 0;
  /** The stopped connections, and their owners in `waiting`. */
  private readonly stopped = new Map<Socket, Owner>();
  private readonly waiting = new FairQueue<Socket>();
  private readonly next = new NextTurn(() => this.begin());
  private readonly isBurst: () => boolean;

  /** @param isBurst whether connections wait to be accepted */
  constructor(isBurst = isAccepting) {
    this.isBurst = isBurst;
  }

  /** Counts bytes of a client and a user. If they were the last of this turn, their connection is read again in a later one. */
  take(bytes: number, socket: Socket, owner: Owner): void {
    this.taken += bytes;
    if (this.taken < this.limit || this.stopped.has(socket)) return;
    readingOf(socket)?.readStop();
    this.stopped.set(socket, owner);
    this.waiting.add(socket, owner);
    this.next.request();
  }

  /** The number of connections that wait to be read again. */
  get size(): number {
    return this.waiting.size;
  }

  /** Does not read the connection any more. */
  end(socket: Socket): void {
    readingOf(socket)?.readStop();
    const owner = this.stopped.get(socket);
    if (owner !== undefined) this.waiting.remove(socket, owner);
    this.stopped.delete(socket);
  }

  private get limit(): number {
    return this.isBurst() ? bytesOfShortTurn : bytesOfTurn;
  }

  private begin(): void {
    this.taken = 0;
    for (let left = this.limit; left > 0;) {
      const socket = this.waiting.take();
      if (socket === undefined) break;
      this.stopped.delete(socket);
      const reading = readingOf(socket);
      if (reading === undefined) continue;
      reading.readStart();
      left -= bytesOfRead;
    }
    if (this.waiting.size > 0) this.next.request();
  }
}
