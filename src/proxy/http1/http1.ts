import type { Socket } from 'node:net';
import type { DataPlane } from '../data-plane.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import type { InputTurns } from '../listen/input-turns.ts';
import type { Connection } from '../messages/connection.ts';
import { Http1Session } from './http1-session.ts';
import { eachInTurns } from '../../time/slices.ts';

const sessionPlace = Symbol('session');

/** The HTTP/1 server of a port. `accept` takes sockets, plain or decrypted. */
export interface Http1Server {
  accept(socket: Socket, connection: Connection): void;
  /** Closes connections between two requests. */
  closeIdle(): Promise<void>;
  close(): void;
}

/** Creates a server that does not listen and handles each request as an Exchange. */
export function createHttp1Server(plane: DataPlane, turns: InputTurns): Http1Server {
  const { checkInterval, headerTimeout, idleTimeout, stallTimeout } = plane.limits;
  const sessions = new LinkedSet<Http1Session>(sessionPlace);
  // One timer checks all connections, because setting timers per request would take a tenth of its time.
  const interval = Math.min(checkInterval, headerTimeout, idleTimeout, stallTimeout);
  const ticksOf = (timeout: number): number => Math.ceil(timeout / interval);
  const ticks = { now: 0, head: ticksOf(headerTimeout), idle: ticksOf(idleTimeout), flush: ticksOf(stallTimeout) };
  const timer = setInterval(() => {
    ticks.now += 1;
    void eachInTurns(sessions, (session) => {
      if (sessions.has(session)) session.check();
    });
  }, interval).unref();
  return {
    accept: (socket, connection) => {
      sessions.add(
        new Http1Session(socket, connection, { plane, ticks, turns }, (session) => sessions.delete(session)),
      );
    },
    closeIdle: () => eachInTurns(sessions, (session) => session.closeIdle()),
    close: () => clearInterval(timer),
  };
}
