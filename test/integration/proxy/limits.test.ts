import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import {
  closeProxies,
  openRaw,
  prefixRule,
  receiveUntil,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
  webRoute,
} from '../../support/proxy.ts';
import { routeMatch } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('sizes', () => {
  test.each([
    [
      'a header section',
      { reason: 'headers-too-large', status: 431 },
      'request-header',
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`,
    ],
    [
      'a number of fields',
      { reason: 'headers-too-large', status: 431 },
      'request-header',
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X-A: b\r\n'.repeat(200)}\r\n`,
    ],
    [
      'a request target',
      { reason: 'target-too-long', status: 414 },
      'request-target',
      `GET /${'a'.repeat(8_200)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    ],
  ] as const)('%s beyond its limit', async (_name, refusal, limit, bytes) => {
    const { port, log, proxy } = await startProxyTo((await startEcho()).port);
    expect(await sendRaw(port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${refusal.status} `));
    expect(log).toEqual([expect.objectContaining(refusal)]);
    expect(proxy.counters().limitsReached[limit]).toBe(1);
  });

  test('what is just within the limits is served', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const fields = `Host: a\r\nConnection: close\r\n${'X-A: b\r\n'.repeat(198)}`;
    expect(await sendRaw(port, `GET /${'a'.repeat(8_191)} HTTP/1.1\r\n${fields}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a request that costs the expressions of the routes too much is refused, and its neighbors are not', async () => {
    const app = await startEcho('app');
    const costly = Array.from({ length: 40 }, (_, index) =>
      routeMatch({ index, headers: [{ type: 'RegularExpression', name: 'x-a', value: `.*${index}` }] }),
    );
    const { port, log, proxy } = await startProxy([
      endpointsConfig('app', app.port),
      webRoute({ ...prefixRule('/', []), matches: costly }, { ...prefixRule('/', []), index: 1 }),
    ]);
    expect((await send(port, '/', { headers: { 'x-a': 'a'.repeat(30_000) } })).status).toBe(500);
    expect((await send(port, '/', { headers: { 'x-a': 'a'.repeat(3_000) } })).status).toBe(200);
    await eventually(() => expect(log).toMatchObject([{ status: 500, reason: 'match-too-costly' }, { status: 200 }]));
    expect(proxy.counters().limitsReached.matching).toBe(1);
  });

  test('connections beyond the limit of a port are not served', async () => {
    const { port } = await startProxyTo((await startEcho()).port, { connectionsPerPort: 1 });
    const first = openRaw(port);
    const answered = receiveUntil(first, 'HTTP/1.1 200');
    first.write(get);
    await answered;
    expect(await sendRaw(port, get)).toBe('');
    first.destroy();
  });
});

describe('times', () => {
  test('a connection that never says anything ends', async () => {
    const { port, proxy } = await startProxyTo(1, { firstByteTimeout: 20 });
    await once(openRaw(port).resume(), 'close');
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
    expect(proxy.counters().limitsReached['first-byte-time']).toBe(1);
  });

  test('a header that drips in is cut off with 408', async () => {
    const { port, log, proxy } = await startProxyTo(1, { headerTimeout: 40, checkInterval: 10 });
    const socket = openRaw(port);
    const drip = setInterval(() => socket.writable && socket.write('X-A: b\r\n'), 5);
    const answer = receiveUntil(socket, '\r\n\r\n');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
    expect(log).toEqual([expect.objectContaining({ reason: 'header-timeout' })]);
    expect(proxy.counters().limitsReached['request-header-time']).toBe(1);
    socket.destroy();
  });

  test.each([
    ['completes', '\r\n'],
    ['spoils', '\0\r\n\r\n'],
  ])('what %s such a request afterwards changes nothing', async (_name, rest) => {
    const { port, proxy } = await startProxyTo((await startEcho()).port, { headerTimeout: 20, checkInterval: 10 });
    const socket = openRaw(port);
    const closed = once(socket, 'close');
    const answer = receiveUntil(socket, '\r\n\r\n');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
    await answer;
    socket.end(rest);
    await closed;
    expect(proxy.counters()).toMatchObject({ requests: 1, upstreamAttempts: 0 });
  });

  test('a body that stops arriving is given up, at the backend too', async () => {
    const gone = Promise.withResolvers<void>();
    const backend = await startBackend((request) => request.on('close', () => gone.resolve()));
    const { port, log, proxy } = await startProxyTo(backend.port, { stallTimeout: 30 });
    const answer = await sendRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await gone.promise;
    expect(log).toEqual([expect.objectContaining({ reason: 'body-timeout' })]);
    expect(proxy.counters().limitsReached['request-body-time']).toBe(1);
  });

  test('a backend that thinks for longer than that is not the fault of the client', async () => {
    const backend = await startBackend((request, response) => {
      request.resume().on('end', () => void setTimeout(() => response.end('ok'), 400));
    });
    const { port } = await startProxyTo(backend.port, { stallTimeout: 150 });
    expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(200);
  });

  test('nor is one that is slow to read the body', async () => {
    const size = 24 * 1024 * 1024;
    const backend = await startBackend((request, response) => {
      let received = 0;
      request.once(
        'readable',
        () => void setTimeout(() => request.on('data', (chunk: Buffer) => (received += chunk.length)), 600),
      );
      request.on('end', () => response.end(String(received)));
    });
    const { port } = await startProxyTo(backend.port, { stallTimeout: 250 });
    expect(await send(port, '/', { method: 'POST', body: Buffer.alloc(size) })).toMatchObject({
      status: 200,
      body: String(size),
    });
  });

  test('a backend that pauses when the client has caught up is not the fault of the client either', async () => {
    const half = Buffer.alloc(12 * 1024 * 1024);
    const backend = await startBackend((_request, response) => {
      response.write(half, () => void setTimeout(() => response.end(half), 600));
    });
    const { port } = await startProxyTo(backend.port, { stallTimeout: 250 });
    expect((await send(port, '/')).body).toHaveLength(2 * half.length);
  });

  test('a client that stops reading is cut off', async () => {
    const gone = Promise.withResolvers<void>();
    const chunk = Buffer.alloc(1024 * 1024);
    const backend = await startBackend((_request, response) => {
      const pump = (): void => {
        while (response.write(chunk));
        response.once('drain', pump);
      };
      response.on('close', () => gone.resolve());
      pump();
    });
    const { port, log, proxy } = await startProxyTo(backend.port, { stallTimeout: 100 });
    const socket = openRaw(port);
    socket.pause().write(get);
    await gone.promise;
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 200, reason: 'client-aborted' })]));
    expect(proxy.counters().limitsReached['client-stalled']).toBe(1);
    socket.destroy();
  });

  test('a connection that stays idle between requests ends', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port, { idleTimeout: 20, checkInterval: 10 });
    expect(await sendRaw(port, get)).toMatch(/^HTTP\/1\.1 200 /);
    expect(proxy.counters().limitsReached.idle).toBe(1);
  });
});
