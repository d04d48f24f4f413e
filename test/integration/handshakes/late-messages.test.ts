import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority } from '../../../src/certificates/index.ts';
import { beginHandshakesInTurns } from '../../../src/handshakes/in-turns.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { TlsPeer } from '../../support/tls-peer.ts';

let server: Server;
let received = '';

beforeAll(async () => {
  server = createServer(await issueLeaf(await createAuthority(), { dnsNames: ['a.example'] }), (socket) => {
    socket.on('error', () => undefined).on('data', (bytes: Buffer) => (received += bytes.toString()));
  });
  beginHandshakesInTurns(server, 60_000);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => void server.close());

async function connectPeer() {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  return { socket, peer: await TlsPeer.connect(socket) };
}

test('a connection whose keys change a few times is read', async () => {
  const { socket, peer } = await connectPeer();
  peer.write(peer.keyUpdates(20));
  peer.write(peer.data('hello'));
  socket.end();
  await once(socket.resume(), 'close');
  expect(received).toBe('hello');
});

test('a connection whose keys change all the time is closed', async () => {
  const { socket, peer } = await connectPeer();
  const closed = new Promise((resolve) => void socket.resume().once('close', resolve));
  peer.write(peer.keyUpdates(200));
  await closed;
  expect(socket.destroyed).toBe(true);
});
