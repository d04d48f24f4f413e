import type { Server, Socket } from 'node:net';

/** Handshakes that begin in one turn of the event loop. Each takes up to 0.3 ms, or about 1 ms with an RSA key of 2,048 bits. */
const perTurn = 8;
// RFC 8446 section 5.1: a record has a header of 5 bytes, and its type 22 is a handshake.
const recordHeader = 5;
const handshakeRecord = 22;
/** The longest record that a connection waits for. The ClientHello of every client is shorter. */
const longestRecord = 16 * 1024;

/**
 * Begins the TLS handshakes of a server in turns. Node begins each one as soon as its first bytes arrive, so hundreds that arrive
 * together would delay the probes. A handshake begins when the first record is complete.
 *
 * @param server a TLS server that no connection has reached yet
 * @param timeout milliseconds until the first record is complete
 */
export function beginHandshakesInTurns(server: Server, timeout: number): void {
  const owners = server.listeners('connection');
  server.removeAllListeners('connection');
  const waiting = new Set<Socket>();
  let isScheduled = false;
  const schedule = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(turn);
  };
  const turn = (): void => {
    isScheduled = false;
    for (const socket of waiting.values().take(perTurn)) {
      waiting.delete(socket);
      // A reset destroys the socket before `close` is emitted.
      if (!socket.destroyed) for (const owner of owners) owner.call(server, socket);
    }
    schedule();
  };
  server.on('connection', (socket: Socket) =>
    awaitFirstRecord(socket, timeout, () => {
      waiting.add(socket);
      socket.once('close', () => waiting.delete(socket));
      schedule();
    }),
  );
}

/** Calls `complete` when the first record has arrived. All bytes stay in the socket. Closes the connection if it ends, fails, or times out. */
function awaitFirstRecord(socket: Socket, timeout: number, complete: () => void): void {
  let needed = recordHeader;
  const giveUp = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(giveUp, timeout);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', look);
  };
  const look = (): void => {
    if (socket.readableLength < needed) return;
    const header: Buffer | null = needed === recordHeader ? socket.read(recordHeader) : null;
    if (header !== null) {
      socket.unshift(header);
      needed = lengthOfRecord(header);
      if (socket.readableLength < needed) return;
    }
    stop();
    complete();
  };
  // The listener of errors stays: a connection may fail while it waits for its turn.
  socket.on('readable', look).once('end', giveUp).on('error', giveUp).once('close', stop);
}

/** Returns the length of a record and its header. Bytes that begin no handshake, or too long a record, fail at once, so there is nothing to wait for. */
function lengthOfRecord(header: Buffer): number {
  const length = header.readUInt16BE(recordHeader - 2);
  return header[0] === handshakeRecord && length <= longestRecord ? recordHeader + length : recordHeader;
}
