import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { helloOf } from '../../support/client-hello.ts';

/** A group that no server supports, so the client must send a second ClientHello for the next group (RFC 8446 section 4.1.4). */
const unsupported = 'brainpoolP256r1tls13';

/** Makes the bytes that a server must answer with a key exchange and a signature, on a connection of its own. */
export const expensiveFlights: Readonly<Record<string, (socket: Socket) => Promise<Buffer>>> = {
  'first messages': () => helloOf({ servername: 'a.example', minVersion: 'TLSv1.3' }),
  'second messages after a HelloRetryRequest': (socket) =>
    secondFlight(socket, { minVersion: 'TLSv1.3', ecdhCurve: `${unsupported}:X25519` }),
  'key exchanges of TLS 1.2': (socket) => secondFlight(socket, { maxVersion: 'TLSv1.2' }),
};

/** Sends the first flight of a client, and returns the second one. */
async function secondFlight(socket: Socket, options: ConnectionOptions): Promise<Buffer> {
  const [near, far] = duplexPair();
  const client = connect({
    socket: near,
    servername: 'a.example',
    ...options,
    rejectUnauthorized: false,
  }).on('error', () => undefined);
  const [first] = (await once(far, 'data')) as [Buffer];
  socket.write(first);
  const forward = (bytes: Buffer): void => void far.write(bytes);
  socket.on('data', forward);
  const [second] = (await once(far, 'data')) as [Buffer];
  socket.off('data', forward);
  client.destroy();
  return second;
}
