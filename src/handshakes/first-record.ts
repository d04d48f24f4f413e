import type { Socket } from 'node:net';

// RFC 8446 section 5.1: a record has a header of 5 bytes, and its type 22 is a handshake.
const recordHeader = 5;
const handshakeRecord = 22;
/** The longest record that a connection waits for. The ClientHello of every client is shorter. */
const longestRecord = 16 * 1024;

export interface FirstRecord {
  /** Milliseconds until the handshake must begin. */
  readonly timeout: number;
  /** Gets a function to be called when the handshake begins. It puts all bytes back into the socket. */
  readonly complete: (begin: () => void) => void;
  /** Called for a connection that ends, fails, or times out before its handshake begins. */
  readonly failed: (reason: 'ended' | 'timeout') => void;
}

/**
 * Calls `complete` when the first record of a connection has arrived, with which a TLS handshake begins. Calls `failed` instead or after
 * that if there will be no handshake, and the caller closes the connection. Calls neither for a connection that this process closes.
 */
export function awaitFirstRecord(socket: Socket, { timeout, complete, failed }: FirstRecord): void {
  // Bytes that stay in the socket would hide its end.
  let held = takeAll(socket, nothing);
  const begin = (): void => {
    stop();
    if (held.length > 0) socket.unshift(held);
  };
  const look = (): void => {
    held = takeAll(socket, held);
    if (!isComplete(held)) return;
    socket.off('readable', look);
    complete(begin);
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', stop);
  };
  const giveUp = (): void => {
    stop();
    failed('ended');
  };
  const timer = setTimeout(() => {
    stop();
    failed('timeout');
  }, timeout);
  socket.once('end', giveUp).once('error', giveUp).once('close', stop);
  if (isComplete(held)) complete(begin);
  else socket.on('readable', look);
}

const nothing = Buffer.alloc(0);

function takeAll(socket: Socket, held: Buffer): Buffer {
  const bytes: Buffer | null = socket.read();
  if (bytes === null) return held;
  return held.length === 0 ? bytes : Buffer.concat([held, bytes]);
}

function isComplete(bytes: Buffer): boolean {
  return bytes.length >= lengthOfRecord(bytes);
}

/** Returns the length of a record and its header. Bytes that begin no handshake, or too long a record, fail at once, so there is nothing to wait for. */
function lengthOfRecord(bytes: Buffer): number {
  if (bytes.length < recordHeader) return recordHeader;
  const length = bytes.readUInt16BE(recordHeader - 2);
  return bytes[0] === handshakeRecord && length <= longestRecord ? recordHeader + length : recordHeader;
}
