import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { readTrace, readTraceAnswer, signTrace, traceBytes, traceKeyOf, traceLength } from '../../src/channel/trace.ts';
import { closeBackends, startRawBackend } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { dial, endOf, startLayer4, tcp, tcpRoute, type Layer4UnderTest } from '../support/layer4.ts';
import { closeProxies, throwFault } from '../support/proxy.ts';
import { scaled } from './support/scale.ts';

const key = traceKeyOf('secret', 'infra/gateway');
const connection = { protocol: 'TCP', port: tcp.port, serverName: '' } as const;
const opened = new Set<Socket>();

afterEach(() => {
  for (const socket of opened) socket.destroy();
  opened.clear();
});
afterEach(closeProxies);
afterEach(closeBackends);

/** A data plane with a key, and everything that its backend gets, by connection. */
async function start() {
  const got: Buffer[][] = [];
  const backend = await startRawBackend((socket) => {
    const chunks: Buffer[] = [];
    got.push(chunks);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => socket.end('bye'));
  });
  const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
    onFault: throwFault,
  });
  started.proxy.setTraceKey(key);
  return { started, got: () => got.map((chunks) => Buffer.concat(chunks)) };
}

function trace(by = key, at = Date.now()): string {
  return signTrace(by, connection, at);
}

/** Writes parts in one segment each, as far as the kernel permits. */
async function write(socket: Socket, ...parts: readonly Buffer[]): Promise<void> {
  socket.setNoDelay(true);
  for (const part of parts) {
    await new Promise<void>((done) => {
      socket.write(part, () => done());
    });
    await new Promise(setImmediate);
  }
}

function open(started: Layer4UnderTest): Socket {
  const socket = dial(started);
  opened.add(socket);
  return socket;
}

test('a trace that is split anywhere is answered, and no backend gets a byte of it', async () => {
  const { started, got } = await start();
  const step = scaled(7, 1);
  for (let at = 1; at < traceLength; at += step) {
    const value = trace();
    const bytes = traceBytes(value);
    const client = open(started);
    const end = endOf(client);
    await write(client, bytes.subarray(0, at), bytes.subarray(at));
    const { received } = await end;
    const nonce = readTrace(value)?.nonce ?? '';
    expect(readTraceAnswer(key, nonce, Buffer.from(received, 'latin1'))).toMatchObject({ backend: 'shop/app/80' });
  }
  const single = trace();
  const client = open(started);
  const end = endOf(client);
  await write(client, ...Array.from(traceBytes(single), (byte) => Buffer.from([byte])));
  expect((await end).received).toContain('shop/app/80');
  expect(Buffer.concat(got())).toHaveLength(0);
});

test('forged and expired traces pass unchanged, and tell nothing', async () => {
  const { started, got } = await start();
  const valid = traceBytes(trace());
  const forged = [
    traceBytes(trace(traceKeyOf('guess', 'infra/gateway'))),
    traceBytes(trace(key, Date.now() - 120_000)),
    traceBytes(signTrace(key, { ...connection, port: 1 }, Date.now())),
    traceBytes(signTrace(key, { ...connection, protocol: 'UDP' }, Date.now())),
    ...Array.from({ length: scaled(12, traceLength) }, (_, position) => {
      const changed = Buffer.from(valid);
      const at = scaled(8 * position, position);
      changed[at] = (changed[at] ?? 0) ^ 1;
      return changed;
    }),
  ];
  for (const bytes of forged) {
    const client = open(started);
    const end = endOf(client);
    await write(client, bytes);
    client.end();
    expect(await end).toEqual({ received: 'bye', how: 'end' });
  }
  expect(got()).toEqual(forged);
});

test('truncated traces pass unchanged at the end of the connection', async () => {
  const { started, got } = await start();
  const step = scaled(9, 1);
  const sent: Buffer[] = [];
  for (let length = 1; length < traceLength; length += step) {
    const bytes = traceBytes(trace()).subarray(0, length);
    const client = open(started);
    const end = endOf(client);
    await write(client, bytes);
    client.end();
    expect(await end).toEqual({ received: 'bye', how: 'end' });
    sent.push(bytes);
  }
  expect(got()).toEqual(sent);
});

test('of many copies of a trace, one is answered, and no backend gets one', async () => {
  const { started, got } = await start();
  const value = trace();
  const clients = Array.from({ length: scaled(20, 200) }, () => open(started));
  const ends = clients.map((client) => endOf(client));
  for (const client of clients) client.write(traceBytes(value));
  const results = await Promise.all(ends);
  expect(results.filter(({ received }) => received.includes('shop/app/80'))).toHaveLength(1);
  expect(results.filter(({ how }) => how === 'reset')).toHaveLength(clients.length - 1);
  expect(Buffer.concat(got())).toHaveLength(0);
  await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
});

test('clients that begin a trace and wait hold no more than their connection', async () => {
  const { started } = await start();
  await started.apply(endpointsConfig('app'));
  const clients = Array.from({ length: scaled(50, 500) }, () => open(started));
  for (const [index, client] of clients.entries()) client.write(traceBytes(trace()).subarray(0, 1 + (index % 90)));
  // Without a backend, they are reset.
  expect((await Promise.all(clients.map((client) => endOf(client)))).map(({ how }) => how)).toEqual(
    clients.map(() => 'reset'),
  );
  await eventually(() => expect(started.proxy.counters().layer4).toMatchObject({ open: { tcp: 0 } }));
  expect(started.proxy.counters().layer4.reasons['no-endpoints']).toBe(clients.length);
});
