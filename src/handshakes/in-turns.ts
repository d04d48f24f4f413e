import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { acceptedInTurn } from '../time/accepting.ts';
import { awaitFirstRecord } from './first-record.ts';
import { HandshakeTurns } from './handshake-turns.ts';
import { limitLateMessages } from './late-messages.ts';

/**
 * Processes the TLS handshakes of a server in turns, so that hundreds that arrive together do not delay the probes. A handshake begins
 * when the first record is complete.
 *
 * @param server a TLS server that no connection has reached yet
 * @param timeout milliseconds until the first record is complete
 */
export function beginHandshakesInTurns(server: Server, timeout: number): void {
  const owners = server.listeners('connection');
  server.removeAllListeners('connection');
  const turns = new HandshakeTurns();
  server.on('secureConnection', (decrypted: TLSSocket) => {
    const socket = turns.done(decrypted);
    if (socket !== undefined) limitLateMessages(decrypted, socket, () => decrypted.destroy());
  });
  server.on('tlsClientError', (_error, decrypted: Socket) => void turns.done(decrypted));
  server.on('connection', (socket: Socket) => {
    acceptedInTurn();
    // A connection may fail while it waits for its turn.
    socket.on('error', () => socket.destroy());
    turns.begun(socket);
    awaitFirstRecord(socket, {
      timeout,
      complete: (begin) =>
        turns.take(socket, () => {
          begin();
          for (const owner of owners) owner.call(server, socket);
        }),
      failed: () => socket.destroy(),
    });
  });
}
