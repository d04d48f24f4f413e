import type { Socket } from 'node:net';

/** What reads a connection below its streams. */
export interface Reading {
  /** Whether the stream of the connection wants bytes. It starts and stops the reader where this changes. */
  readonly reading?: boolean;
  readStart(): number;
  readStop(): number;
}

/**
 * Returns what reads a connection. Node does not document it, but the pauses of streams do not stop a reader below them: TLS and the HTTP
 * parser go on with all bytes that arrive. `undefined` for a connection that is closed or has no descriptor; it is read as it comes.
 */
export function readingOf(socket: Socket): Reading | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Partial<Reading> | null };
  return typeof handle?.readStop === 'function' && typeof handle.readStart === 'function'
    ? (handle as Reading)
    : undefined;
}
