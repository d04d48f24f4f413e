import type { Socket } from 'node:net';
import { FairQueue } from '../fairness/fair-queue.ts';
import { isAccepting } from '../time/accepting.ts';
import { monotonicNow } from '../time/clock.ts';
import { NextTurn } from '../time/next-turn.ts';

/**
 * Handshakes that begin in one turn of the event loop, and milliseconds after which no further one begins. Each takes 0.3 to 0.5 ms; with the
 * most expensive group (P-521) or key, 5 ms.
 */
const perTurn = 4;
const longTurn = 2;
/** Turns in which none begins while a burst of connections is being accepted, for each turn in which some do. */
const turnsToAccept = 32;

export interface Flight {
  readonly socket: Socket;
  /** The address of its client. */
  readonly client: string;
  /** Called when it is the connection's turn, and never if it closes before. */
  readonly process: () => void;
}

/**
 * The first flights of TLS handshakes, which wait for their turn. Node processes each one as soon as its bytes arrive, so hundreds that
 * arrive together would delay everything else. Clients take turns by their address, so one of them does not delay the others.
 *
 * While a burst of connections is being accepted, few turns have handshakes. Node accepts one connection per turn, so otherwise the
 * connections of all clients would wait in the queue of the system, in the order of their arrival.
 *
 * Each flight waits for one turn at least. A client that has left is known then: after a stall most of those that wait have left, and
 * their handshakes would delay the others until these leave, too.
 */
export class FirstFlights {
  private readonly waiting = new FairQueue<Flight>();
  /** Those of this turn. */
  private arrived: Flight[] = [];
  /** Turns of the present burst of connections since some flights were processed. */
  private accepting = 0;
  private readonly next = new NextTurn(() => this.turn());
  private readonly now: () => number;
  private readonly isBurst: () => boolean;

  /** `now` returns the time in milliseconds. `isBurst`: new connections wait to be accepted. */
  constructor(now: () => number = monotonicNow, isBurst = isAccepting) {
    this.now = now;
    this.isBurst = isBurst;
  }

  take(flight: Flight): void {
    this.arrived.push(flight);
    this.next.request();
  }

  private turn(): void {
    this.accepting = this.isBurst() ? (this.accepting + 1) % turnsToAccept : 0;
    if (this.accepting === 0) this.processSome();
    for (const flight of this.arrived) this.waiting.add(flight, [flight.client]);
    this.arrived = [];
    if (this.waiting.size > 0) this.next.request();
  }

  private processSome(): void {
    const began = this.now();
    for (let count = 0; count < perTurn && this.now() - began < longTurn;) {
      const flight = this.waiting.take();
      if (flight === undefined) break;
      // Closed connections leave when it is their turn, and take none.
      if (flight.socket.destroyed) continue;
      flight.process();
      count += 1;
    }
  }
}
