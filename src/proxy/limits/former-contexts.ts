import type { Socket } from 'node:net';
import { ActionInTurns } from '../../time/slices.ts';
import { bytesOf } from './context-memory.ts';

/** The maximum number of bytes of contexts that were replaced and have connections. */
export const maxFormerBytes = 64 * 1024 * 1024;

interface Entry {
  readonly context: object;
  readonly bytes: number;
  readonly sockets: Set<Socket>;
  /** Whatever may make further connections with the context. */
  readonly users: Set<object>;
}

/**
 * The TLS contexts of open connections, to clients and to backends. A connection keeps the contexts of its handshake until it is closed,
 * with all CA certificates. So certificates that are replaced again and again under connections that stay open would fill the memory.
 * Beyond a limit, the connections of the contexts that were replaced first are closed.
 */
export class FormerContexts {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly entries = new Map<object, Entry>();
  private readonly used = new WeakMap<object, Entry>();
  private readonly left = new WeakSet();
  /** Entries of contexts that were replaced, the first one first. */
  private readonly former = new Set<Entry>();
  private bytes = 0;
  private readonly closing = new ActionInTurns<Socket>((socket) => socket.destroy());

  /** `limit` is in bytes; `reached` is called for each context whose connections are closed. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  /**
   * Notes a context of a connection until the connection is closed. `user` is the object on whose behalf the connection was made, by default the context
   * itself: the context is not replaced while another user of it has not left.
   */
  hold(socket: Socket, context: object, user: object = context): void {
    if (socket.closed) return;
    const entry = this.entryOf(context);
    entry.sockets.add(socket);
    socket.once('close', () => {
      entry.sockets.delete(socket);
      if (entry.sockets.size === 0) this.release(entry);
    });
    if (this.left.has(user)) {
      if (entry.users.size === 0) this.retire(entry);
      return;
    }
    this.used.set(user, entry);
    entry.users.add(user);
    if (this.former.delete(entry)) this.bytes -= entry.bytes;
  }

  /** Notes that the user makes no further connections. A connection that still comes counts as one of a replaced context. */
  leave(user: object): void {
    this.left.add(user);
    const entry = this.used.get(user);
    if (entry?.users.delete(user) === true && entry.users.size === 0) this.retire(entry);
  }

  private retire(entry: Entry): void {
    if (this.entries.get(entry.context) !== entry || this.former.has(entry)) return;
    this.former.add(entry);
    this.bytes += entry.bytes;
    for (const oldest of this.former) {
      if (this.bytes <= this.limit) return;
      this.reached();
      for (const socket of oldest.sockets) this.closing.add(socket);
      this.release(oldest);
    }
  }

  private entryOf(context: object): Entry {
    const known = this.entries.get(context);
    if (known !== undefined) return known;
    const entry = { context, bytes: bytesOf(context), sockets: new Set<Socket>(), users: new Set<object>() };
    this.entries.set(context, entry);
    return entry;
  }

  private release(entry: Entry): void {
    if (this.entries.get(entry.context) === entry) this.entries.delete(entry.context);
    if (this.former.delete(entry)) this.bytes -= entry.bytes;
  }
}
