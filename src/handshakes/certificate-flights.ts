import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { monotonicNow } from '../time/clock.ts';
import { NextTurn } from '../time/next-turn.ts';
import { readingOf } from './reading.ts';
import { Rounds } from './rounds.ts';

/** Milliseconds of work in one turn of the event loop after which there is a pause. */
const longTurn = 50;
/** The pause, in times of the work before it: the chains of client certificates take a quarter of the time. */
const pauseOfWork = 3;
/** Milliseconds. Whatever else kept the process from running, handshakes go on soon. */
const longestPause = 1_000;
/** Milliseconds before all connections have another turn if none completed its handshake. */
const pauseOfRound = 5;
/** Clients that are remembered as slow, and milliseconds for which they are. */
const maxSlow = 1_024;
const slowFor = 60_000;

/** How the time passes. */
export interface FlightClock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Milliseconds for which the event loop has worked since its start. */
  readonly work: () => number;
}

/** The clock of this process. */
export const systemClock: FlightClock = { now: monotonicNow, work: () => performance.eventLoopUtilization().active };

/**
 * Reads connections whose TLS handshake has begun, and that were asked for a client certificate, one in each turn of the event loop until
 * the handshake is complete. OpenSSL verifies all certificates of a client in one go, also those that prove nothing: 64 KiB of them can take
 * a quarter of a second. After such a long turn there is a pause. A client that caused one is slow: its next handshakes come after those of
 * other clients, and after pauses of their own.
 */
export class CertificateFlights {
  /** The next one first. */
  private readonly waiting = new Map<Socket, string>();
  private readonly waitingSlow = new Map<Socket, string>();
  /** Slow clients, and until when. */
  private readonly slow = new Map<string, number>();
  /** The connection that is read in this turn. */
  private open: Socket | undefined;
  private openClient = '';
  private readonly rounds = new Rounds();
  /** Work of the event loop until the last turn; undefined after a pause. */
  private before: number | undefined;
  private slowPauseEnds = 0;
  /** Turns of other clients since the last one of a slow client. */
  private turnsOfOthers = 0;
  private readonly next = new NextTurn(() => this.turn());
  private readonly clock: FlightClock;
  private readonly wasRead: (socket: Socket) => void;

  /** `wasRead` is called after the turns of a connection, until its handshake is complete. */
  constructor(clock = systemClock, wasRead: (socket: Socket) => void = () => undefined) {
    this.clock = clock;
    this.wasRead = wasRead;
  }

  /** Adds a connection of a client, which has this address, after the answer to its first flight. */
  add(socket: Socket, client: string): void {
    if (socket.destroyed) return;
    (this.isSlow(client) ? this.waitingSlow : this.waiting).set(socket, client);
    readingOf(socket)?.readStop();
    this.next.request();
    // A client of TLS 1.2 can send its certificates with its first flight.
    this.wasRead(socket);
  }

  /** The handshake of a connection is complete, it failed, or the connection is closed. */
  done(socket: Socket): void {
    if (!this.waiting.delete(socket) && !this.waitingSlow.delete(socket)) return;
    if (this.open === socket) this.open = undefined;
    else readingOf(socket)?.readStart();
    this.rounds.progressed();
  }

  private turn(): void {
    const { open } = this;
    this.open = undefined;
    if (open !== undefined) {
      readingOf(open)?.readStop();
      this.wasRead(open);
    }
    const work = this.clock.work();
    const spent = this.before === undefined ? 0 : work - this.before;
    this.before = work;
    if (spent > longTurn) {
      const pause = Math.min(pauseOfWork * spent, longestPause);
      const wasSlow = this.isSlow(this.openClient);
      this.noteSlow(this.openClient, pause);
      if (!wasSlow) {
        this.pause(pause);
        return;
      }
    }
    this.moveSlow();
    if (this.waiting.size > 0 && !this.isTurnOfSlow()) {
      this.turnsOfOthers += 1;
      this.readFirst(this.waiting);
    } else if (this.waitingSlow.size === 0) this.before = undefined;
    else this.readSlow();
  }

  /** Slow clients have one turn after all others had one: some of these are silent until their time is over. */
  private isTurnOfSlow(): boolean {
    if (this.waitingSlow.size === 0 || this.clock.now() < this.slowPauseEnds) return false;
    return this.turnsOfOthers >= this.waiting.size;
  }

  /** The next connection is not one of a client that became slow while it waited. */
  private moveSlow(): void {
    for (const [socket, client] of this.waiting) {
      if (!this.isSlow(client)) return;
      this.waiting.delete(socket);
      this.waitingSlow.set(socket, client);
    }
  }

  private isSlow(client: string): boolean {
    return (this.slow.get(client) ?? 0) > this.clock.now();
  }

  /** Slow clients pause for so many milliseconds. */
  private noteSlow(client: string, pause: number): void {
    const now = this.clock.now();
    this.slow.delete(client);
    this.slow.set(client, now + slowFor);
    const [oldest] = this.slow.size > maxSlow ? this.slow.keys() : [];
    if (oldest !== undefined) this.slow.delete(oldest);
    this.slowPauseEnds = now + pause;
  }

  private readSlow(): void {
    this.turnsOfOthers = 0;
    const left = this.slowPauseEnds - this.clock.now();
    if (left > 0) this.pause(Math.min(left, pauseOfRound));
    else this.readFirst(this.waitingSlow);
  }

  private pause(time: number): void {
    this.before = undefined;
    this.next.requestAfter(time);
  }

  private readFirst(connections: Map<Socket, string>): void {
    const [first] = connections;
    if (first === undefined) return;
    const [socket, client] = first;
    connections.delete(socket);
    connections.set(socket, client);
    [this.open, this.openClient] = [socket, client];
    readingOf(socket)?.readStart();
    if (this.rounds.hasIdled(1, connections.size)) this.next.requestAfter(pauseOfRound);
    else this.next.request();
  }
}
