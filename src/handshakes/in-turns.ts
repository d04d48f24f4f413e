import type { Server, Socket } from 'node:net';
import { carrierOf } from './carrier.ts';
import { awaitFirstRecord } from './first-record.ts';
import { HandshakeTurns } from './handshake-turns.ts';

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
  const shaking = new Set<Socket>();
  const done = (socket: Socket | undefined): void => {
    if (socket === undefined || !shaking.delete(socket)) return;
    turns.done(socket);
  };
  server.on('secureConnection', (decrypted: Socket) => done(carrierOf(decrypted, shaking)));
  server.on('tlsClientError', (_error, decrypted: Socket) => done(carrierOf(decrypted, shaking)));
  server.on('connection', (socket: Socket) => {
    const begin = (): void => {
      for (const owner of owners) owner.call(server, socket);
    };
    // A connection may fail while it waits for its turn.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => done(socket));
    shaking.add(socket);
    awaitFirstRecord(socket, {
      timeout,
      complete: () => turns.take(socket, begin),
      failed: () => socket.destroy(),
    });
  });
}
