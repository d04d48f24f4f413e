import type { Socket } from 'node:net';
import { setImmediate as othersFirst } from 'node:timers/promises';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, type Authority } from '../../../src/certificates/index.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { closeBackends, startBackend, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { frame, literal, openFrames } from '../../support/http2.ts';
import { dial, startLayer4, tcp, tcpRoute } from '../../support/layer4.ts';
import { closeProxies, openRaw, portOf, routeTo, startProxy, startProxyTo } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

let authority: Authority;
let pair: { cert: string; key: string };
beforeAll(async () => {
  authority = await createAuthority();
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['inner.example'],
    ipAddresses: [],
  });
  pair = { cert: certificate, key: privateKey };
});

/** Nothing of this ends by itself during a test. */
const patient = {
  tlsHandshakeTimeout: 600_000,
  idleTimeout: 600_000,
  stallTimeout: 600_000,
  backendStallTimeout: 600_000,
  aheadTimeout: 600_000,
  tunnelIdleTimeout: 600_000,
  tunnelHalfClosedTimeout: 600_000,
};

/** A proxy to one backend that serves the same route on a plain port and on one with TLS. */
async function startBoth(
  backend: number,
  limits: Partial<ProxyLimits> = {},
): Promise<ProxyUnderTest & { readonly securePort: number }> {
  const listener = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
  const route = routeConfig('shop/secure', {
    attachments: [{ listener: listener.key, hostnames: [''] }],
    rules: routeTo('app').rules,
  });
  // The two listeners have ports of their own.
  const bind = ({ key }: { key: string }) => [{ host: key === listener.key ? '127.0.0.2' : '127.0.0.1', port: 0 }];
  const started = await startProxy([listener, endpointsConfig('app', backend), routeTo('app'), route], {
    bind,
    certificates: () => pair,
    limits: { ...patient, ...limits },
  });
  return { ...started, securePort: portOf(started.proxy, listener.key) };
}

interface Client {
  /** Carries HTTP. */
  readonly socket: Socket;
  /** Carries TLS, where there is any. */
  readonly below: Socket;
}

const manners = {
  'HTTP/1.1': ({ port }: { port: number }): Client => {
    const socket = openRaw(port);
    return { socket, below: socket };
  },
  'HTTP/1.1 over TLS': ({ securePort }: { securePort: number }): Client => {
    const below = openRaw(securePort, '127.0.0.2');
    const socket = connectTls({
      socket: below,
      rejectUnauthorized: false,
      servername: 'inner.example',
      ALPNProtocols: ['http/1.1'],
    });
    return { socket: socket.on('error', () => undefined), below };
  },
};

/** Sends until nobody takes anything any more: neither this side nor the kernel has room for what is written. */
async function fill(socket: Socket, piece: Buffer | string): Promise<void> {
  for (let quiet = 0; quiet < 5; quiet += 1) {
    if (socket.destroyed) throw new Error('closed');
    if (socket.writableLength === 0) {
      quiet = 0;
      socket.write(piece);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n';
const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n';
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n';

/** A backend that reads a request's head and then nothing more. */
async function startDeaf(answer = '') {
  const sockets: Socket[] = [];
  const backend = await startRawBackend((socket) => {
    sockets.push(socket);
    socket.once('data', () => {
      socket.pause();
      socket.write(answer);
    });
  });
  return { sockets, port: backend.port };
}

/** Whether the other side has closed a connection; that shows where it is read. */
function isGone(socket: Socket | undefined): boolean {
  socket?.resume();
  return socket?.destroyed === true || socket?.readableEnded === true;
}

/** The largest number of values that were added to a list in one turn of the event loop, until it has `count`. */
async function mostInTurn(list: readonly unknown[], count: number): Promise<number> {
  let most = 0;
  for (let before = list.length; before < count; before = list.length) {
    await othersFirst();
    most = Math.max(most, list.length - before);
  }
  return most;
}

describe('many connections that are reset at the same moment', () => {
  const count = 300;

  test('the requests on them end a few at a time', async () => {
    const backend = await startDeaf();
    const { port, log, proxy } = await startProxyTo(backend.port, patient);
    const clients = Array.from({ length: count }, () => openRaw(port));
    for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(proxy.counters().openRequests).toBe(count));
    for (const client of clients) client.resetAndDestroy();
    expect(await mostInTurn(log, count)).toBeLessThanOrEqual(128);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });

  test('the requests of HTTP/2 on them end a few at a time', async () => {
    const backend = await startDeaf();
    const { port, log, proxy } = await startProxyTo(backend.port, patient);
    const clients = Array.from({ length: 3 }, () => openFrames(port));
    const fields = literal([':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
    for (const { socket } of clients)
      socket.write(
        Buffer.concat(Array.from({ length: 100 }, (_, index) => frame('headers', 5, 2 * index + 1, fields))),
      );
    await eventually(() => expect(proxy.counters().openRequests).toBe(count));
    for (const { socket } of clients) socket.resetAndDestroy();
    expect(await mostInTurn(log, count)).toBeLessThanOrEqual(128);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });

  test.each(['open', 'half-closed'])('their relays end a few at a time (%s)', async (state) => {
    const backend = await startRawBackend((socket) => socket.resume());
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const clients = Array.from({ length: count }, () => dial(started));
    for (const client of clients) client.write('x');
    if (state === 'half-closed') for (const client of clients) client.end();
    const { layer4 } = started.proxy.counters();
    await eventually(() => expect(layer4.received.tcp).toBe(count));
    for (const client of clients) client.resetAndDestroy();
    expect(await mostInTurn(started.connections, count)).toBeLessThanOrEqual(128);
    await eventually(() => expect(started.proxy.counters().openConnections).toBe(0));
  });
});

test('bodies that stall at the same moment end a few at a time', async () => {
  const backend = await startDeaf();
  const count = 300;
  const { port, log, proxy } = await startProxyTo(backend.port, { ...patient, stallTimeout: 2_000 });
  const clients = Array.from({ length: count }, () => openRaw(port));
  for (const client of clients) client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1');
  await eventually(() => expect(proxy.counters().requestBytes).toBe(count));
  for (const client of clients) client.write('2');
  expect(await mostInTurn(log, count)).toBeLessThanOrEqual(128);
  expect(new Set(log.map(({ reason }) => reason))).toEqual(new Set(['body-timeout']));
});

describe.each(Object.entries(manners))(
  'a client that speaks %s and leaves while nobody reads what it sends',
  (_name, open) => {
    test('in an upload that the backend does not take', async () => {
      const backend = await startDeaf();
      const started = await startBoth(backend.port);
      const { socket, below } = open(started);
      socket.write(post);
      await fill(socket, Buffer.alloc(1_000_000));
      expect(started.proxy.counters()).toMatchObject({ openRequests: 1, openConnections: 1 });
      below.resetAndDestroy();
      await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
      await eventually(() => expect(isGone(backend.sockets[0])).toBe(true));
    });

    test('with more pipelined requests than are read ahead', async () => {
      const backend = await startDeaf();
      const started = await startBoth(backend.port);
      const { socket, below } = open(started);
      await fill(socket, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(30_000));
      expect(started.proxy.counters()).toMatchObject({ requests: 1, openRequests: 1 });
      below.resetAndDestroy();
      await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
      await eventually(() => expect(isGone(backend.sockets[0])).toBe(true));
    });

    test('in a tunnel whose backend does not read', async () => {
      const backend = await startDeaf(switching);
      const started = await startBoth(backend.port);
      const { socket, below } = open(started);
      socket.write(upgrade);
      await fill(socket, Buffer.alloc(1_000_000));
      below.resetAndDestroy();
      await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
      await eventually(() => expect(isGone(backend.sockets[0])).toBe(true));
    });
  },
);

describe.each(['without TLS', 'over TLS'])('a backend %s that resets while its client does not read', (way) => {
  test.each([
    ['takes a tunnel along', upgrade, switching],
    ['ends the response', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n'],
  ])('%s', async (_name, request, answer) => {
    // `below` carries the bytes of TLS.
    const { promise: connected, resolve } = Promise.withResolvers<Client>();
    const backend = await startRawBackend((below) => {
      const socket = way === 'over TLS' ? new TLSSocket(below, { isServer: true, ...pair }) : below;
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write(answer);
          resolve({ socket, below });
        });
    });
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
    const started = await startProxy(
      [{ ...endpointsConfig('app', backend.port), ...(way === 'over TLS' ? { tls } : {}) }, routeTo('app')],
      { limits: patient },
    );
    const client = openRaw(started.port).pause();
    client.write(request);
    const { socket, below } = await connected;
    await fill(socket, Buffer.alloc(1_000_000));
    expect(started.proxy.counters()).toMatchObject({ openRequests: 1, openConnections: 1 });
    below.resetAndDestroy();
    await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
    client.destroy();
  });
});

test('a client that closes while its request for another protocol waits takes the backend along', async () => {
  const backend = await startDeaf();
  const started = await startBoth(backend.port);
  const socket = openRaw(started.port);
  socket.write(upgrade);
  await eventually(() => expect(backend.sockets[0]?.bytesRead).toBeGreaterThan(0));
  socket.end();
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  await eventually(() => expect(isGone(backend.sockets[0])).toBe(true));
});

test('a backend that takes nothing of an upload for too long gets no more of it', async () => {
  const backend = await startDeaf();
  const started = await startBoth(backend.port, { backendStallTimeout: 300 });
  const socket = openRaw(started.port);
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString()));
  socket.write(post);
  await Promise.race([
    fill(socket, Buffer.alloc(1_000_000)).catch(() => undefined),
    new Promise((resolve) => {
      socket.once('data', resolve);
    }),
  ]);
  await eventually(() => expect(answer).toMatch(/^HTTP\/1\.1 504 [^]*stopped reading the request body/));
  expect(started.log).toEqual([expect.objectContaining({ status: 504, reason: 'backend-stalled' })]);
  expect(started.proxy.counters().limitsReached['backend-stalled']).toBe(1);
  await eventually(() => expect(isGone(backend.sockets[0])).toBe(true));
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
});

test('clients that do not take the end of a response are disconnected', async () => {
  const backend = await startBackend((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
  const started = await startBoth(backend.port, { stallTimeout: 500 });
  const ask = (bytes: number): Socket => {
    const socket = openRaw(started.port).pause();
    socket.write(`GET /${bytes} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return socket;
  };
  // Shows how much the kernel and the proxy take together.
  const first = ask(100_000_000);
  await eventually(() => expect(started.log).toEqual([expect.objectContaining({ reason: 'client-aborted' })]));
  const most = started.log[0]?.bytes ?? 0;
  const others = Array.from({ length: 12 }, (_, number) => ask(most - (number + 1) * 16_384));
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ requests: 13, openRequests: 0 }));
  for (const socket of [first, ...others]) socket.destroy();
});

test.each([11, 60, Infinity])('a client that closes after %d bytes of its TLS handshake is released', async (bytes) => {
  const started = await startBoth((await startDeaf()).port);
  // What a client says first.
  const { promise: hello, resolve } = Promise.withResolvers<Buffer>();
  const listening = await startRawBackend((socket) => void socket.once('data', resolve));
  connectTls({ port: listening.port, host: '127.0.0.1', servername: 'inner.example' }).on('error', () => undefined);
  const socket = openRaw(started.securePort, '127.0.0.2');
  socket.allowHalfOpen = true;
  socket.write((await hello).subarray(0, bytes));
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ openConnections: 1 }));
  socket.end();
  await eventually(() => expect(started.proxy.counters()).toMatchObject({ openConnections: 0 }));
  socket.destroy();
});
