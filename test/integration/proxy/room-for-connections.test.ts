import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { closeBackends, startBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, receiveUntil, routeTo, startProxy, startProxyTo, web } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';

const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
let backend: Backend;
const opened: Socket[] = [];

beforeEach(async () => {
  backend = await startBackend((request, response) => void (request.url === '/' && response.end('done')));
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterEach(closeProxies);
afterEach(closeBackends);

function open({ port }: ProxyUnderTest, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined);
  opened.push(socket);
  return socket;
}

/** Sends a request, and resolves when it has been answered. */
function ask(socket: Socket): Promise<string> {
  const answered = receiveUntil(socket, 'done');
  socket.write(head('/'));
  return answered;
}

async function openAnswered(started: ProxyUnderTest, localAddress?: string): Promise<Socket> {
  const socket = open(started, localAddress);
  await ask(socket);
  return socket;
}

/** Opens connections whose requests wait for the backend, and resolves when this number of all requests is left. */
async function fillUp(started: ProxyUnderTest, localAddress: string, left: number): Promise<void> {
  const before = started.proxy.counters().connections;
  for (let count = 0; count < 70; count += 1) open(started, localAddress).write(head('/wait'));
  await eventually(() =>
    expect(started.proxy.counters()).toMatchObject({ connections: before + 70, openRequests: left }),
  );
}

describe('clients whose connections all have requests', () => {
  test('leave some connections to others', async () => {
    const started = await startProxyTo(backend.port, { connections: 64 });
    await fillUp(started, '127.0.9.1', 56);
    await fillUp(started, '127.0.9.2', 60);
    expect(await ask(open(started))).toContain('200');
    expect(started.proxy.counters().limitsReached).toMatchObject({ connections: 0, 'client-share': 80 });
  });

  test('do not displace idle connections of clients with fewer', async () => {
    const started = await startProxyTo(backend.port, { connections: 64 });
    const idle = await openAnswered(started);
    await fillUp(started, '127.0.9.1', 56);
    await fillUp(started, '127.0.9.2', 59);
    expect(await ask(idle)).toContain('200');
  });
});

describe('an idle connection', () => {
  test('is not closed for a new one if its request has arrived', async () => {
    const started = await startProxyTo(backend.port, { connections: 2 });
    const [oldest, other] = [await openAnswered(started), await openAnswered(started)];
    const closed = once(other, 'close');
    const added = open(started);
    // Not before the connection has been opened: the data plane gets both in one turn.
    const answered = new Promise((resolve) => process.nextTick(() => resolve(ask(oldest))));
    expect(await answered).toContain('200');
    expect(await ask(added)).toContain('200');
    await closed;
  });

  test('is not closed for a new one if its request waits for a turn', async () => {
    // The share of one client is 402 of them.
    const started = await startProxyTo(backend.port, { connections: 459 });
    const oldest = await openAnswered(started);
    const others = await Promise.all(Array.from({ length: 400 }, () => openAnswered(started)));
    await openAnswered(started);
    for (const other of others) void ask(other).catch(() => undefined);
    const answered = ask(oldest);
    expect(await ask(open(started))).toContain('200');
    expect(await answered).toContain('200');
  });
});

test('silent connections make room if they are more than idle ones', async () => {
  const started = await startProxyTo(backend.port, { connections: 4 });
  const idle = await openAnswered(started);
  const silent = [open(started), open(started), open(started)];
  await eventually(() => expect(started.proxy.counters().openConnections).toBe(4));
  const closed = silent.slice(0, 1).map((socket) => once(socket, 'close'));
  expect(await ask(open(started))).toContain('200');
  await Promise.all(closed);
  expect(await ask(idle)).toContain('200');
});

test('idle connections make room if they are more than silent ones', async () => {
  const started = await startProxyTo(backend.port, { connections: 4 });
  const idle = [await openAnswered(started), await openAnswered(started), await openAnswered(started)];
  const silent = open(started);
  await eventually(() => expect(started.proxy.counters().openConnections).toBe(4));
  const closed = idle.slice(0, 1).map((socket) => once(socket, 'close'));
  expect(await ask(open(started))).toContain('200');
  await Promise.all(closed);
  expect(await ask(silent)).toContain('200');
});

test('a connection with TLS takes the room of two', async () => {
  const authority = await createAuthority();
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['a.example'],
    ipAddresses: [],
  });
  const listener = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/a'] });
  const route = routeConfig('shop/web', {
    attachments: [{ listener: listener.key, hostnames: [''] }],
    rules: routeTo('app').rules,
  });
  const { port, proxy } = await startProxy([listener, endpointsConfig('app', backend.port), route], {
    certificates: () => ({ cert: certificate, key: privateKey }),
    limits: { connections: 4 },
  });
  await proxy.apply({ upserts: [], removals: [web.key] });
  const openSecure = async (): Promise<TLSSocket> => {
    const socket = connectTls({ host: '127.0.0.1', port, servername: 'a.example', ca: authority.certificate });
    opened.push(socket.on('error', () => undefined));
    expect(await ask(socket)).toContain('200');
    return socket;
  };
  const [oldest, other] = [await openSecure(), await openSecure()];
  const closed = once(oldest, 'close');
  await openSecure();
  await closed;
  expect(await ask(other)).toContain('200');
  for (const socket of opened) socket.destroy();
  await eventually(() => expect(proxy.counters().openConnections).toBe(0));
  // Everything was released.
  await openSecure();
});
