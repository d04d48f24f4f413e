import { once } from 'node:events';
import { connect } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { createAuthority } from '../../../src/certificates/index.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { authorizedBy, startAuthorized } from '../../support/authorization.ts';
import { closeBackends, startRawBackend } from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hostOf, layer4Route, startLayer4, tlsListener } from '../../support/layer4.ts';
import { closeProxies, openRaw, receiveUntil, startProxyTo } from '../../support/proxy.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let certificate: CertificatePair;

beforeAll(async () => {
  certificate = await issueLeaf(await createAuthority(), { dnsNames: ['a.example'], commonName: 'a' });
});
afterEach(closeProxies);
afterEach(closeBackends);

const connections = 40;

/** Returns the bytes of heap that each of many connections takes which `open` opens. */
async function heapOfEach(open: () => Promise<unknown>): Promise<number> {
  await open();
  collect();
  const before = process.memoryUsage().heapUsed;
  await Promise.all(Array.from({ length: connections }, open));
  await new Promise(setImmediate);
  collect();
  return (process.memoryUsage().heapUsed - before) / connections;
}

const webSocket =
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n';

test('a WebSocket keeps no fields of the response', async () => {
  const fields = Array.from({ length: 180 }, (_, index) => `x-${index}: ${'a'.repeat(150)}\r\n`).join('');
  const backend = await startRawBackend((socket) =>
    socket.once('data', () => socket.write(`${switching}${fields}\r\n`)),
  );
  const started = await startProxyTo(backend.port);
  const each = await heapOfEach(async () => {
    const socket = openRaw(started.port);
    socket.write(webSocket);
    await receiveUntil(socket, '\r\n\r\n');
    socket.removeAllListeners('data').removeAllListeners('close');
  });
  // 39 KB more with the fields.
  expect(each).toBeLessThan(60_000);
});

test('a permitted request keeps no fields of the response of its authorization server', async () => {
  const fields = Array.from({ length: 180 }, (_, index) => `x-${index}: ${'a'.repeat(150)}\r\n`).join('');
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${fields}\r\n`;
  const server = await startRawBackend((socket) => socket.on('data', () => socket.write(answer)));
  let [sent, reached] = [0, 0];
  const backend = await startRawBackend((socket) => socket.once('data', () => (reached += 1)));
  const filters = [authorizedBy('auth', { responseHeaders: ['x-none'] })];
  const { port } = await startAuthorized(backend.port, server.port, { filters });
  const each = await heapOfEach(async () => {
    sent += 1;
    openRaw(port).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(reached).toBe(sent));
  });
  // 42 KB more with the fields.
  expect(each).toBeLessThan(55_000);
});

test('a connection keeps no protocols of its ClientHello', async () => {
  const listener = tlsListener('tls', 'Terminate');
  const backend = await startRawBackend((socket) => socket.resume());
  const started = await startLayer4(
    [listener, endpointsConfig('app', backend.port), layer4Route('TLSRoute', listener)],
    {
      certificates: () => certificate,
    },
  );
  const names = Array.from({ length: 3_500 }, (_, index) => index.toString(36).padStart(3, '-').slice(-3));
  const each = await heapOfEach(async () => {
    const options = { servername: 'a.example', rejectUnauthorized: false, ALPNProtocols: names };
    const socket = connect({ host: hostOf(listener.port), port: started.portOf(listener), ...options });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
  });
  // 117 KB more with the protocols.
  expect(each).toBeLessThan(80_000);
});
