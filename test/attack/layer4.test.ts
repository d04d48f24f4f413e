import { createSocket } from 'node:dgram';
import type { Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { closeBackends, startRawBackend } from '../support/backends.ts';
import { helloBody, inRecords, serverNameExtension } from '../support/client-hello.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { dial, hostOf, layer4Route, startLayer4, tcp, tcpRoute, tlsListener, udp } from '../support/layer4.ts';
import { closeProxies, receiveUntil, throwFault } from '../support/proxy.ts';
import { scaled } from './support/scale.ts';

const opened = new Set<Socket>();
const datagrams = new Set<Datagrams>();
afterEach(() => {
  for (const socket of opened) socket.destroy();
  for (const socket of datagrams) socket.close();
  opened.clear();
  datagrams.clear();
});
afterEach(closeProxies);
afterEach(closeBackends);

function keep(socket: Socket): Socket {
  opened.add(socket);
  return socket;
}

async function bound(): Promise<Datagrams> {
  const socket = createSocket('udp4');
  datagrams.add(socket.on('error', () => undefined));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

const mebibyte = 2 ** 20;

const passthrough = tlsListener('tls', 'Passthrough');
const hello = inRecords(helloBody([serverNameExtension('a.example.com')]));

test.each([
  ['TCP', tcp, tcpRoute('app')],
  ['TLS passthrough', passthrough, layer4Route('TLSRoute', passthrough)],
] as const)(
  'a client that reads slowly holds no more than the buffers of its connection (%s)',
  async (_what, listener, route) => {
    const size = scaled(64, 1_024) * mebibyte;
    const chunk = Buffer.alloc(64 * 1024);
    const backend = await startRawBackend((socket) => {
      let left = size;
      const send = (): void => {
        while (left > 0) {
          left -= chunk.length;
          if (!socket.write(chunk)) return;
        }
        socket.end();
      };
      socket.on('drain', send);
      send();
    });
    const started = await startLayer4([listener, endpointsConfig('app', backend.port), route], {
      onFault: throwFault,
    });
    const transport = listener === tcp ? 'tcp' : 'tls';
    const sent = (): number => started.proxy.counters().layer4.sent[transport];
    const client = keep(dial(started, listener));
    client.pause();
    if (transport === 'tls') client.write(hello);
    await eventually(() => expect(sent()).toBeGreaterThan(mebibyte));
    let received = 0;
    let ahead = 0;
    client.on('data', (bytes: Buffer) => {
      received += bytes.length;
      ahead = Math.max(ahead, sent() - received);
      client.pause();
      setImmediate(() => client.resume());
    });
    client.resume();
    await once(client, 'end');
    expect(received).toBe(size);
    // The kernel's buffers between the proxy and the client, and one read of the proxy.
    expect(ahead).toBeLessThan(16 * mebibyte);
  },
  scaled(20_000, 300_000),
);

test('connections that say nothing keep nobody out', async () => {
  const limit = scaled(50, 1_000);
  const backend = await startRawBackend((socket) => socket.pipe(socket));
  const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
    onFault: throwFault,
    limits: { connections: limit },
  });
  for (let count = 0; count < 2 * limit; count += 1) keep(dial(started));
  const client = keep(dial(started));
  client.write('hello');
  expect(await receiveUntil(client, 'hello')).toBe('hello');
  expect(started.proxy.counters().openConnections).toBeLessThanOrEqual(limit + 1);
  for (const socket of opened) socket.destroy();
  await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
  await eventually(() => expect(backend.openConnections()).toBe(0));
});

test('ClientHellos that never end keep nobody out', async () => {
  const limit = scaled(20, 200);
  const backend = await startRawBackend((socket) => socket.on('data', () => socket.write('served')));
  const listener = tlsListener('tls', 'Passthrough');
  const resources = [listener, endpointsConfig('app', backend.port), layer4Route('TLSRoute', listener)];
  const started = await startLayer4(resources, { onFault: throwFault, limits: { handshakes: limit } });
  const hello = inRecords(helloBody([serverNameExtension('a.example.com')]), 1);
  for (let count = 0; count < 3 * limit; count += 1)
    keep(dial(started, listener)).write(hello.subarray(0, hello.length - 1 - (count % 200)));
  const client = keep(dial(started, listener));
  for (let begin = 0; begin < hello.length; begin += 50) client.write(hello.subarray(begin, begin + 50));
  expect(await receiveUntil(client, 'served')).toBe('served');
  // Those that were told to end may take a moment.
  await eventually(() => expect(started.proxy.counters().openConnections).toBeLessThanOrEqual(limit + 1));
  expect(started.proxy.counters().limitsReached['tls-handshakes']).toBeGreaterThan(0);
});

test('datagrams from many sources end no flow that is in use', async () => {
  const limit = scaled(64, 1_024);
  const backend = await bound();
  const flowsOfClient = new Set<number>();
  backend.on('message', (message, from) => {
    if (message.toString() === 'client') flowsOfClient.add(from.port);
    backend.send(message, from.port, from.address);
  });
  const resources = [udp, endpointsConfig('app', backend.address().port), layer4Route('UDPRoute', udp)];
  const started = await startLayer4(resources, { onFault: throwFault, limits: { udpFlows: limit } });
  const [client, port] = [await bound(), started.portOf(udp)];
  let answers = 0;
  client.on('message', () => (answers += 1));
  const rounds = scaled(20, 200);
  for (let round = 0; round < rounds; round += 1) {
    for (let source = 0; source < 20; source += 1) {
      const flooding = await bound();
      flooding.send('x', port, hostOf(2));
      datagrams.delete(flooding);
      flooding.once('message', () => flooding.close());
    }
    client.send('client', port, hostOf(2));
    await eventually(() => expect(answers).toBe(round + 1));
    expect(started.proxy.counters().layer4.open.udp).toBeLessThanOrEqual(limit);
  }
  expect(flowsOfClient.size).toBe(1);
  // The kernel gives a source port again once its socket is closed, so that a few sources share a flow.
  expect(started.proxy.counters().layer4.started.udp).toBeGreaterThan(limit);
});
