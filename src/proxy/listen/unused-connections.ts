import type { Socket } from 'node:net';
import { LinkedSet } from '../limits/linked-set.ts';

const silentPlace = Symbol('silent');
const idlePlace = Symbol('idle');

/** Connections that may be closed to make room for others, because no request is in progress on them. */
export class UnusedConnections {
  /** Those that have not sent the bytes yet by which their protocol is detected. */
  readonly silent = new LinkedSet<Socket>(silentPlace);
  private readonly idle = new LinkedSet<Socket>(idlePlace);

  /** The first bytes of a connection are awaited. */
  awaitFirstBytes(socket: Socket): void {
    this.silent.add(socket);
  }

  /** No request is in progress any more, or there was none. */
  rest(socket: Socket): void {
    this.idle.add(socket);
  }

  /** A request has begun on an idle connection. */
  use(socket: Socket): void {
    this.idle.delete(socket);
  }

  /** The connection is no longer one of these. */
  delete(socket: Socket): void {
    this.silent.delete(socket);
    this.idle.delete(socket);
  }

  /**
   * Returns the connection that has been unused for longest, of those that may be closed: of silent or idle ones, whichever are more. So
   * neither a flood of silent connections ends those that others use again, nor idle ones those that have just been opened. `undefined` if
   * none is found among the first ones.
   */
  longest(mayClose: (socket: Socket) => boolean): Socket | undefined {
    const { silent, idle } = this;
    const [more, less] = silent.size > idle.size ? [silent, idle] : [idle, silent];
    return more.findEarly(mayClose) ?? less.findEarly(mayClose);
  }
}
