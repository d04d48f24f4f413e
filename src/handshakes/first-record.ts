import type { Socket } from 'node:net';

// RFC 8446 section 5.1: a record has a header of 5 bytes, and its type 22 is a handshake.
const recordHeader = 5;
const handshakeRecord = 22;
/** The longest record that a connection waits for. The ClientHello of every client is shorter. */
const longestRecord = 16 * 1024;

export interface FirstRecord {
  /** Milliseconds until the record is complete. */
  readonly timeout: number;
  readonly complete: () => void;
  /** Called for a connection that ends, fails, or times out. */
  readonly failed: (reason: 'ended' | 'timeout') => void;
}

/**
 * Calls `complete` when the first record of a connection has arrived, with which a TLS handshake begins. All bytes stay in the
 * socket. Otherwise calls `failed`, and the caller closes the connection. Calls neither for a connection that this process closes.
 */
export function awaitFirstRecord(socket: Socket, { timeout, complete, failed }: FirstRecord): void {
  let needed = recordHeader;
  const isComplete = (): boolean => {
    if (needed === recordHeader && socket.readableLength >= recordHeader) needed = lengthOfRecord(socket);
    return socket.readableLength >= needed;
  };
  if (isComplete()) {
    complete();
    return;
  }
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
  const look = (): void => {
    if (!isComplete()) return;
    stop();
    complete();
  };
  socket.on('readable', look).once('end', giveUp).once('error', giveUp).once('close', stop);
}

/** Returns the length of a record and its header. Bytes that begin no handshake, or too long a record, fail at once, so there is nothing to wait for. */
function lengthOfRecord(socket: Socket): number {
  const header: Buffer | null = socket.read(recordHeader);
  if (header === null) return recordHeader;
  socket.unshift(header);
  const length = header.readUInt16BE(recordHeader - 2);
  return header[0] === handshakeRecord && length <= longestRecord ? recordHeader + length : recordHeader;
}
