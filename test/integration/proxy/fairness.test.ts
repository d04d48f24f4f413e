import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { frame, literal, preface } from '../../support/http2.ts';
import { closeProxies, receiveUntil, routeTo, startProxy } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

/** A connection of a client with this address. */
function openFrom(localAddress: string, port: number): Socket {
  return connect({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined);
}

function getOn(socket: Socket, path: string): void {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
}

const requestFields = literal([':method', 'GET'], [':scheme', 'http'], [':path', '/slow'], [':authority', 'a']);

/** Requests of one client that nobody answers: each on a connection of its own, or all on one. */
const floods: Readonly<Record<string, (port: number, count: number) => readonly Socket[]>> = {
  'HTTP/1.1 on many connections': (port, count) =>
    Array.from({ length: count }, () => {
      const socket = openFrom('127.0.0.2', port);
      getOn(socket, '/slow');
      return socket;
    }),
  'HTTP/2 on one connection': (port, count) => {
    const socket = openFrom('127.0.0.2', port);
    socket.write(
      Buffer.concat([
        preface,
        ...Array.from({ length: count }, (_, index) => frame('headers', 5, 2 * index + 1, requestFields)),
      ]),
    );
    return [socket];
  },
};

/** Proxies with few connections to a backend that answers all but `/slow`, and how many of those it has got. */
const backends: Readonly<Record<string, () => Promise<ProxyUnderTest & { readonly slow: () => number }>>> = {
  'HTTP/1.1': async () => {
    let slow = 0;
    const { port } = await startBackend(
      (request, response) => void (request.url === '/slow' ? (slow += 1) : response.end('ok')),
    );
    return {
      ...(await startProxy([endpointsConfig('app', port), routeTo('app')], {
        limits: { connectionsPerEndpoint: 8, waitingPerEndpoint: 16 },
      })),
      slow: () => slow,
    };
  },
  'HTTP/2': async () => {
    let slow = 0;
    const { port } = await startHttp2Backend(
      (stream, headers) =>
        void (headers[':path'] === '/slow' ? (slow += 1) : stream.respond({ ':status': 200 }, { endStream: true })),
      { settings: { maxConcurrentStreams: 4 } },
    );
    const endpoints = { ...endpointsConfig('app', port), protocol: 'h2c' as const };
    return {
      ...(await startProxy([endpoints, routeTo('app')], {
        limits: { connectionsPerEndpoint: 2, waitingPerEndpoint: 16 },
      })),
      slow: () => slow,
    };
  },
};

describe.each(Object.keys(backends))('a client whose requests a backend over %s does not answer', (backend) => {
  test.each(Object.keys(floods))('leaves room for others: %s', async (flood) => {
    const started = await backends[backend]!();
    const { port, proxy, slow } = started;
    // So that the number of requests that the backend takes is known.
    const other = openFrom('127.0.0.3', port);
    const first = receiveUntil(other, 'HTTP/1.1 200');
    getOn(other, '/');
    await first;
    const sockets = floods[flood]!(port, 40);
    await eventually(() => expect(proxy.counters().reasons['backend-busy']).toBeGreaterThanOrEqual(40 - 7 - 15));
    await eventually(() => expect(slow()).toBe(7));
    expect(proxy.counters().limitsReached).toMatchObject({ 'client-share': expect.any(Number), 'endpoint-waiting': 0 });
    expect(proxy.counters().limitsReached['client-share']).toBeGreaterThan(0);
    const answered = receiveUntil(other, 'HTTP/1.1 200');
    getOn(other, '/');
    await answered;
    for (const socket of [...sockets, other]) socket.destroy();
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });
});

test('a client alone has nearly all requests under way', async () => {
  const backend = await startBackend(() => undefined);
  const { port, proxy } = await startProxy([endpointsConfig('app', backend.port), routeTo('app')], {
    limits: { requests: 16 },
  });
  const sockets = floods['HTTP/2 on one connection']!(port, 20);
  await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 14 }));
  expect(proxy.counters().limitsReached).toMatchObject({ 'client-share': 6, requests: 0 });
  for (const socket of sockets) socket.destroy();
});

describe('requests of one client on many HTTP/1.1 connections', () => {
  const path = /^\/(?:flood|other)$/;

  /** Connections whose protocol is known. */
  async function openSome(address: string, port: number, count: number): Promise<readonly Socket[]> {
    const sockets = Array.from({ length: count }, () => openFrom(address, port));
    await Promise.all(
      sockets.map((socket) => {
        const answered = receiveUntil(socket, 'HTTP/1.1 404');
        getOn(socket, '/first');
        return answered;
      }),
    );
    return sockets;
  }

  test('do not come before a request of another client that arrives together with them', async () => {
    const { port, log } = await startProxy([]);
    const flood = await openSome('127.0.0.2', port, 200);
    const [other] = await openSome('127.0.0.3', port, 1);
    for (const socket of flood) getOn(socket, '/flood');
    getOn(other!, '/other');
    const served = () => log.map((entry) => entry.path ?? '').filter((text) => path.test(text));
    await eventually(() => expect(served()).toHaveLength(201));
    expect(served().indexOf('/other')).toBeLessThan(100);
    for (const socket of [...flood, other!]) socket.destroy();
  });

  test('are all served, although they wait for their turn', async () => {
    const { port, log } = await startProxy([]);
    const flood = await openSome('127.0.0.2', port, 100);
    const filler = 'a'.repeat(2_000);
    for (const socket of flood)
      for (let count = 0; count < 20; count += 1)
        socket.write(`GET /flood HTTP/1.1\r\nHost: a\r\nX-A: ${filler}\r\n\r\n`);
    await eventually(() => expect(log.filter((entry) => entry.path === '/flood')).toHaveLength(2_000));
    for (const socket of flood) socket.destroy();
  });

  test('are served although the client has closed its side while they wait', async () => {
    const { port, log } = await startProxy([]);
    const flood = await openSome('127.0.0.2', port, 200);
    for (const socket of flood) socket.end('GET /flood HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(log.filter((entry) => entry.path === '/flood')).toHaveLength(200));
  });
});
