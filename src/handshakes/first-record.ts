import type { Socket } from 'node:net';

// RFC 8446 section 5.1: a record has a header of 5 bytes, and its type 22 is a handshake.
const recordHeader = 5;
const handshakeRecord = 22;
/** The longest record that a connection waits for. The ClientHello of every client is shorter. */
const longestRecord = 16 * 1024;

export interface FirstRecord {
  /** The first bytes of the connection, if they are known. They are in the socket, too. */
  readonly first?: Buffer | undefined;
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
export function awaitFirstRecord(socket: Socket, { first, timeout, complete, failed }: FirstRecord): void {
  if (first !== undefined && first.length >= lengthOfRecord(first)) {
    complete();
    return;
  }
  // Bytes that stay in the socket would hide its end.
  let held = takeAll(socket, nothing);
  const isComplete = (): boolean => held.length >= lengthOfRecord(held);
  const goOn = (): void => {
    if (held.length > 0) socket.unshift(held);
    complete();
  };
  if (isComplete()) {
    goOn();
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
    held = takeAll(socket, held);
    if (!isComplete()) return;
    stop();
    goOn();
  };
  socket.on('readable', look).once('end', giveUp).once('error', giveUp).once('close', stop);
}

const nothing = Buffer.alloc(0);

function takeAll(socket: Socket, held: Buffer): Buffer {
  const bytes: Buffer | null = socket.read();
  if (bytes === null) return held;
  return held.length === 0 ? bytes : Buffer.concat([held, bytes]);
}

/** Returns the length of a record and its header. Bytes that begin no handshake, or too long a record, fail at once, so there is nothing to wait for. */
function lengthOfRecord(bytes: Buffer): number {
  if (bytes.length < recordHeader) return recordHeader;
  const length = bytes.readUInt16BE(recordHeader - 2);
  return bytes[0] === handshakeRecord && length <= longestRecord ? recordHeader + length : recordHeader;
}
