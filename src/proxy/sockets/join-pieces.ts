import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { NextTurn } from '../../time/next-turn.ts';

/** Bytes of a piece that costs more to handle than to copy. */
export const longestJoined = 1024;
/** Short pieces of a connection in one turn of the event loop that are not joined. Ordinary responses have fewer. */
const fewPieces = 8;

/**
 * Joins short pieces of a TLS connection that arrive in the same turn of the event loop. Each record is a piece, so a peer that sends
 * records of one byte would make the process handle, and write to the other side, up to 20,000 of them in a turn. Without TLS, bytes that arrived
 * together are one piece.
 *
 * @param read is called with each piece, or with several joined ones, before other listeners of `end` and `close`
 * @returns what to call with each piece, which may be borrowed
 */
export function joinShortPieces(connection: Duplex, read: (bytes: Buffer) => void): (bytes: Buffer) => void {
  if (!(connection instanceof TLSSocket)) return read;
  let count = 0;
  let held: Buffer[] = [];
  const release = (): void => {
    if (held.length === 0) return;
    const bytes = Buffer.concat(held);
    held = [];
    read(bytes);
  };
  const turn = new NextTurn(() => {
    count = 0;
    release();
  });
  connection.prependOnceListener('end', release).prependOnceListener('close', release);
  return (bytes) => {
    if (bytes.length > longestJoined) {
      release();
      read(bytes);
      return;
    }
    count += 1;
    turn.request();
    if (count <= fewPieces) read(bytes);
    else held.push(Buffer.from(bytes));
  };
}
