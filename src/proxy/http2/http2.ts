import type { Socket } from 'node:net';
import type { DataPlane } from '../data-plane.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import type { InputTurns } from '../listen/input-turns.ts';
import type { Connection } from '../messages/connection.ts';
import { Http2Session } from './http2-session.ts';
import { eachInTurns } from '../../time/slices.ts';

const sessionPlace = Symbol('session');

/** The HTTP/2 server of a port. `accept` takes sockets, plain or decrypted. */
export interface Http2Server {
  accept(socket: Socket, connection: Connection): void;
  /** Drains every connection: no new requests, current ones are completed. */
  drain(): Promise<void>;
  close(): void;
}

/** Creates a server that does not listen and handles each stream as an Exchange. */
export function createHttp2Server(plane: DataPlane, turns: InputTurns): Http2Server {
  const { checkInterval, idleTimeout, stallTimeout } = plane.limits;
  const sessions = new LinkedSet<Http2Session>(sessionPlace);
  // One timer checks all connections, because setting timers per request is expensive.
  const interval = Math.min(checkInterval, idleTimeout, stallTimeout);
  const ticks = { now: 0, idle: Math.ceil(idleTimeout / interval), flush: Math.ceil(stallTimeout / interval) };
  const timer = setInterval(() => {
    ticks.now += 1;
    void eachInTurns(sessions, (session) => {
      if (sessions.has(session)) session.check();
    });
  }, interval).unref();
  return {
    accept: (socket, connection) => {
      sessions.add(
        new Http2Session(socket, connection, { plane, ticks, turns }, (session) => sessions.delete(session)),
      );
    },
    drain: () => eachInTurns(sessions, (session) => session.drain()),
    close: () => clearInterval(timer),
  };
}
