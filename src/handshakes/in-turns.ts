import type { Server, Socket } from 'node:net';
import { FirstFlights } from './first-flights.ts';
import { awaitFirstRecord } from './first-record.ts';
import { LaterFlights } from './later-flights.ts';

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
  const [first, later] = [new FirstFlights(), new LaterFlights()];
  server.on('secureConnection', (decrypted: Socket) => later.done(decrypted));
  server.on('connection', (socket: Socket) => {
    const begin = (): void => {
      for (const owner of owners) owner.call(server, socket);
      later.add(socket);
    };
    // A connection may fail while it waits for its turn.
    socket.on('error', () => socket.destroy());
    awaitFirstRecord(socket, {
      timeout,
      complete: () => first.take(socket, begin),
      failed: () => socket.destroy(),
    });
  });
}
