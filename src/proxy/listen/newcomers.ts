import type { Socket } from 'node:net';
import { NextTurn } from '../../time/next-turn.ts';

/** A connection, and what happens when it has room. */
export interface Newcomer {
  readonly socket: Socket;
  readonly begin: () => void;
}

/**
 * New connections that need the room of others. They wait until the event loop has polled all sockets once more: a connection that seems
 * idle may have a request that was not read yet.
 */
export class Newcomers {
  private arrived: Newcomer[] = [];
  private due: Newcomer[] = [];
  private readonly next = new NextTurn(() => this.turn());
  private readonly settle: (newcomer: Newcomer) => void;

  /** `settle` is called once for each connection. It may be closed by then. */
  constructor(settle: (newcomer: Newcomer) => void) {
    this.settle = settle;
  }

  add(newcomer: Newcomer): void {
    this.arrived.push(newcomer);
    this.next.request();
  }

  private turn(): void {
    const { due } = this;
    this.due = this.arrived;
    this.arrived = [];
    if (this.due.length > 0) this.next.request();
    for (const newcomer of due) this.settle(newcomer);
  }
}
