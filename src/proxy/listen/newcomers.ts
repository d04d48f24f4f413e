import type { Socket } from 'node:net';
import { NextTurn } from '../../time/next-turn.ts';

/**
 * New connections that need the room of others. They wait until the event loop has polled all sockets once more: a connection that seems
 * idle may have a request that was not read yet.
 */
export class Newcomers {
  private arrived: Socket[] = [];
  private due: Socket[] = [];
  private readonly next = new NextTurn(() => this.turn());
  private readonly settle: (socket: Socket) => void;

  /** `settle` is called once for each connection. It may be closed by then. */
  constructor(settle: (socket: Socket) => void) {
    this.settle = settle;
  }

  add(socket: Socket): void {
    this.arrived.push(socket);
    this.next.request();
  }

  private turn(): void {
    const { due } = this;
    this.due = this.arrived;
    this.arrived = [];
    if (this.due.length > 0) this.next.request();
    for (const socket of due) this.settle(socket);
  }
}
