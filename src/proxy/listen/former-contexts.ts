import type { Socket } from 'node:net';
import { ActionInTurns } from '../../time/slices.ts';

/** Bytes that OpenSSL takes for a context, and for each of its CA certificates (Node 24). */
const bytesOfContext = 44 * 1024;
const bytesOfAuthority = 6.5 * 1024;

/** The maximum number of bytes of contexts that were replaced and have connections. */
export const maxFormerBytes = 64 * 1024 * 1024;

/** What determines the memory of a context. The object stands for it, and need not be the context itself. */
export interface HeldContext {
  readonly context: object;
  readonly authorities: number;
}

interface Entry {
  readonly context: object;
  readonly bytes: number;
  readonly sockets: Set<Socket>;
}

/**
 * The TLS contexts of open connections. A connection keeps the contexts of its handshake until it is closed, with all CA certificates. So
 * certificates that are replaced again and again under connections that stay open would fill the memory. Beyond a limit, the connections
 * of the contexts that were replaced first are closed.
 */
export class FormerContexts {
  private readonly limit: number;
  private readonly reached: () => void;
  private readonly entries = new Map<object, Entry>();
  /** Entries of contexts that were replaced, the first one first. */
  private readonly former = new Set<Entry>();
  private bytes = 0;
  private readonly closing = new ActionInTurns<Socket>((socket) => socket.destroy());

  /** `reached` is called for each context whose connections are closed. */
  constructor(limit: number, reached: () => void) {
    this.limit = limit;
    this.reached = reached;
  }

  /** Notes the contexts of a connection until it is closed. */
  hold(socket: Socket, contexts: readonly HeldContext[]): void {
    const entries = contexts.map((context) => this.entryOf(context));
    for (const { sockets } of entries) sockets.add(socket);
    socket.once('close', () => {
      for (const entry of entries) {
        entry.sockets.delete(socket);
        if (entry.sockets.size === 0) this.release(entry);
      }
    });
  }

  /** Notes that no further connection will use this context. */
  replaced(context: object): void {
    const entry = this.entries.get(context);
    if (entry === undefined || this.former.has(entry)) return;
    this.former.add(entry);
    this.bytes += entry.bytes;
    for (const oldest of this.former) {
      if (this.bytes <= this.limit) return;
      this.reached();
      for (const socket of oldest.sockets) this.closing.add(socket);
      this.release(oldest);
    }
  }

  private entryOf({ context, authorities }: HeldContext): Entry {
    const known = this.entries.get(context);
    if (known !== undefined) return known;
    const entry = { context, bytes: bytesOfContext + authorities * bytesOfAuthority, sockets: new Set<Socket>() };
    this.entries.set(context, entry);
    return entry;
  }

  private release(entry: Entry): void {
    if (this.entries.get(entry.context) === entry) this.entries.delete(entry.context);
    if (this.former.delete(entry)) this.bytes -= entry.bytes;
  }
}
