import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { readTrace, traceAnswer, traceKeyOf, traceStart } from '../../../src/channel/trace.ts';
import { sendConnectionTrace } from '../../../src/cli/live/trace-connection.ts';
import { closeBackends, refusingPort, startRawBackend } from '../../support/backends.ts';

const key = traceKeyOf('secret', 'shop/web');
const report = { backend: 'shop/app/80' };
const datagrams = new Set<Socket>();

afterEach(closeBackends);
afterEach(() => {
  for (const socket of datagrams) socket.close();
  datagrams.clear();
});

function nonceIn(bytes: Buffer): string {
  return readTrace(bytes.toString('latin1', traceStart.length))?.nonce ?? '';
}

function send(protocol: 'TCP' | 'TLS' | 'UDP', port: number) {
  const connection = { protocol, port: 53, serverName: protocol === 'TLS' ? 'db.example.com' : '' };
  return sendConnectionTrace({ host: '127.0.0.1', port, key, connection });
}

async function answerDatagrams(answer: (message: Buffer, count: number) => Buffer | undefined): Promise<number> {
  const socket = createSocket('udp4');
  datagrams.add(socket);
  let count = 0;
  socket.on('message', (message, from) => {
    count += 1;
    const bytes = answer(message, count);
    if (bytes !== undefined) socket.send(bytes, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

test('a lost datagram is sent again, with another signature', async () => {
  const nonces = new Set<string>();
  const port = await answerDatagrams((message, count) => {
    nonces.add(nonceIn(message));
    return count === 1 ? undefined : traceAnswer(key, nonceIn(message), report);
  });
  expect(await send('UDP', port)).toEqual(report);
  expect(nonces.size).toBe(2);
});

test('an answer of anyone else is none', async () => {
  const forged = traceAnswer(traceKeyOf('guess', 'shop/web'), 'nonce', report);
  expect(await send('UDP', await answerDatagrams(() => forged))).toBeUndefined();
  const { port } = await startRawBackend((socket) => socket.on('data', () => socket.end(forged)));
  expect(await send('TCP', port)).toBeUndefined();
  expect(await send('TLS', port)).toBeUndefined();
});

test('a TLS server that answers the ClientHello is none', async () => {
  const { port } = await startRawBackend((socket) => socket.on('data', () => socket.write('\u0015')));
  expect(await send('TLS', port)).toBeUndefined();
});

test('a server that sends without end is none', async () => {
  const { port } = await startRawBackend((socket) => {
    const fill = (): void => {
      while (socket.write(Buffer.alloc(64 * 1024)));
    };
    socket.on('drain', fill);
    fill();
  });
  expect(await send('TCP', port)).toBeUndefined();
});

test('a port without a server is an error', async () => {
  const port = await refusingPort();
  await expect(send('TCP', port)).rejects.toThrow('ECONNREFUSED');
  await expect(send('UDP', port)).rejects.toThrow('ECONNREFUSED');
});
