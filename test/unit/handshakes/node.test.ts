import { once } from 'node:events';
import { connect as connectTcp, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority } from '../../../src/certificates/index.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { helloOf } from '../../support/client-hello.ts';

// What the turns of handshakes rely on, and Node does not document. If a test fails with another release of Node, they are still limited,
// but take more processor time.

const termination = createServer();
const server = createTcpServer((socket) => termination.emit('connection', socket));
const place = (): { readonly host: string; readonly port: number } => ({
  host: '127.0.0.1',
  port: (server.address() as AddressInfo).port,
});

beforeAll(async () => {
  termination.setSecureContext(await issueLeaf(await createAuthority(), { dnsNames: ['a.example'] }));
  termination.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

test('Node tells the connection below a TLS socket', async () => {
  const below = once(server, 'connection') as Promise<[Socket]>;
  const above = once(termination, 'secureConnection') as Promise<[TLSSocket]>;
  const client = connect({ ...place(), rejectUnauthorized: false });
  const [[socket], [decrypted]] = await Promise.all([below, above]);
  expect((decrypted as { readonly _parent?: unknown })._parent).toBe(socket);
  client.destroy();
});

test.each<[string, ConnectionOptions, boolean]>([
  ['a HelloRetryRequest', { minVersion: 'TLSv1.3', ecdhCurve: 'brainpoolP256r1tls13:X25519' }, true],
  ['a key exchange', { minVersion: 'TLSv1.3', ecdhCurve: 'X25519' }, false],
  ['a key exchange of TLS 1.2', { maxVersion: 'TLSv1.2' }, false],
])('the bytes that a connection has written tell %s', async (_, options, isShort) => {
  const below = once(server, 'connection') as Promise<[Socket]>;
  const client = connectTcp(place());
  client.write(await helloOf({ servername: 'a.example', ...options }));
  const [[socket], [answer]] = await Promise.all([below, once(client, 'data') as Promise<[Buffer]>]);
  expect(socket.bytesWritten).toBe(answer.length);
  expect(socket.bytesWritten <= 128).toBe(isShort);
  client.destroy();
});
