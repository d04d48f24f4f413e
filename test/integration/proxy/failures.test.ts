import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, refusingPort, startBackend, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import {
  backendOf,
  closeProxies,
  echoed,
  prefixRule,
  routeTo,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
  webRoute,
} from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

describe('endpoints that cannot be reached', () => {
  test('another one is tried, with any method and the whole body', async () => {
    const resources = [endpointsConfig('app', await refusingPort(), (await startEcho('alive')).port), routeTo('app')];
    const { port, log } = await startProxy(resources);
    expect(await echoed(port, '/', { method: 'POST', body: 'whole' })).toMatchObject({
      backend: 'alive',
      body: 'whole',
    });
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('one that refused is left out for a while, for every route that leads there', async () => {
    const alive = await startEcho('alive');
    const { port, proxy } = await startProxy([
      endpointsConfig('app', await refusingPort(), alive.port),
      webRoute({ ...prefixRule('/a', []), index: 0 }, { ...prefixRule('/b', []), index: 1 }),
    ]);
    for (let request = 0; request < 10; request += 1)
      expect((await send(port, request % 2 === 0 ? '/a' : '/b')).status).toBe(200);
    expect(proxy.counters()).toMatchObject({ upstreamConnectFailures: 1, upstreamAttempts: 11 });
  });

  test('503 where none can be reached, after a bounded number of tries; a Service that looks dead is still tried', async () => {
    const dead = await Promise.all(Array.from({ length: 5 }, refusingPort));
    const { port, proxy, log } = await startProxy([endpointsConfig('app', ...dead), routeTo('app')]);
    expect((await send(port, '/')).status).toBe(503);
    expect(proxy.counters().upstreamAttempts).toBe(3);
    expect((await send(port, '/')).status).toBe(503);
    expect((await send(port, '/')).status).toBe(503);
    expect(proxy.counters().upstreamAttempts).toBe(9);
    expect(log.map(({ reason }) => reason)).toEqual(['connect-failed', 'connect-failed', 'connect-failed']);
  });
});

describe('a backend that breaks the connection', () => {
  test('502, and the request is not sent a second time', async () => {
    const backend = await startRawBackend((socket) => socket.once('data', () => socket.destroy()));
    const { port, log } = await startProxy([endpointsConfig('app', backend.port, backend.port), routeTo('app')]);
    expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(502);
    expect(backend.connections()).toBe(1);
    expect(log).toEqual([expect.objectContaining({ reason: 'backend-reset' })]);
  });

  test('a kept connection that the backend closed between two requests costs nothing', async () => {
    const backend = await startBackend((_request, response) => response.end('ok', () => response.socket?.end()));
    const { port } = await startProxyTo(backend.port);
    for (let request = 0; request < 5; request += 1) expect((await send(port, '/')).status).toBe(200);
  });
});

describe('a kept connection that breaks before a byte of an answer', () => {
  /** Answers the first request on each connection, and breaks it at the second. */
  const startForgetful = () =>
    startRawBackend((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        socket.once('data', () => socket.destroy());
      });
    });

  test.each(['GET', 'PUT', 'DELETE'])('does not harm a %s, which goes again on another one', async (method) => {
    const backend = await startForgetful();
    const { port, log } = await startProxyTo(backend.port);
    for (let request = 0; request < 3; request += 1)
      expect((await send(port, '/', { method, ...(method === 'PUT' && { body: 'x' }) })).status).toBe(200);
    expect(backend.connections()).toBe(3);
    expect(log.filter((line) => 'reason' in line)).toEqual([]);
  });

  test('is 502 for what may not be repeated: the backend may have acted on it', async () => {
    const backend = await startForgetful();
    const { port, log } = await startProxyTo(backend.port);
    expect((await send(port, '/')).status).toBe(200);
    expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(502);
    expect(backend.connections()).toBe(1);
    expect(log.at(-1)).toMatchObject({ reason: 'backend-reset' });
  });
});

describe('timeouts', () => {
  test.each([
    ['request', { requestTimeout: 40 }, 'request-timeout'],
    ['backend request', { backendRequestTimeout: 40 }, 'backend-timeout'],
    ['backend request before request', { requestTimeout: 60_000, backendRequestTimeout: 40 }, 'backend-timeout'],
  ] as const)('%s: 504, and the backend is let go', async (_name, timeouts, reason) => {
    const gone = Promise.withResolvers<void>();
    const backend = await startBackend((request) => request.on('close', () => gone.resolve()));
    const { port, log } = await startProxy([endpointsConfig('app', backend.port), routeTo('app', timeouts)]);
    const answer = await send(port, '/', { method: 'POST', body: 'x' });
    expect(answer.status).toBe(504);
    expect(answer.body).toMatch(/^504 Gateway Timeout\n/);
    await gone.promise;
    expect(log).toEqual([expect.objectContaining({ status: 504, reason })]);
  });

  test('an answer under way is broken off', async () => {
    const backend = await startBackend((_request, response) => response.write('half'));
    const { port } = await startProxy([endpointsConfig('app', backend.port), routeTo('app', { requestTimeout: 300 })]);
    await expect(send(port, '/')).rejects.toThrow('aborted');
  });

  test('a client that is slow to send is timed out as well', async () => {
    const { port } = await startProxy([
      endpointsConfig('app', (await startEcho()).port),
      routeTo('app', { requestTimeout: 40 }),
    ]);
    const answer = await send(port, '/', { method: 'POST', headers: { 'content-length': '10' }, body: 'half' });
    expect(answer.status).toBe(504);
  });

  test('one request waits for a connection longer than it may: 504 without having reached the backend', async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const urls: (string | undefined)[] = [];
    const backend = await startBackend((request, response) => {
      urls.push(request.url);
      arrived.resolve();
      void release.promise.then(() => response.end('late'));
    });
    const { port, proxy } = await startProxy(
      [
        endpointsConfig('app', backend.port),
        webRoute(
          { ...prefixRule('/slow', []), index: 0 },
          { ...prefixRule('/queued', [], { requestTimeout: 40 }), index: 1 },
        ),
      ],
      { limits: { connectionsPerEndpoint: 1 } },
    );
    const slow = send(port, '/slow');
    await arrived.promise;
    expect((await send(port, '/queued')).status).toBe(504);
    release.resolve();
    expect((await slow).body).toBe('late');
    expect((await send(port, '/slow')).body).toBe('late');
    expect(urls).toEqual(['/slow', '/slow']);
    expect(proxy.counters().openRequests).toBe(0);
  });

  test.each(['requestTimeout', 'backendRequestTimeout'])('%s of a request that has ended is over', async (timeout) => {
    const backend = await startBackend((request, response) => {
      if (request.url === '/fast') response.end('fast');
      else setTimeout(() => response.end('slow'), 500);
    });
    const { port } = await startProxy([
      endpointsConfig('app', backend.port),
      webRoute({ ...prefixRule('/fast', [], { [timeout]: 200 }), index: 0 }, { ...prefixRule('/slow', []), index: 1 }),
    ]);
    const answer = await sendRaw(
      port,
      'GET /fast HTTP/1.1\r\nHost: a\r\n\r\nGET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/fast[^]*slow$/);
  });

  test.each([2 ** 31, 2 ** 40, 0])('%d ms do not fire at once', async (requestTimeout) => {
    const backend = await startBackend((_request, response) => void setTimeout(() => response.end('ok'), 20));
    const route = routeTo('app', {
      requestTimeout,
      backendRequestTimeout: requestTimeout,
      backends: [backendOf('app')],
    });
    const { port } = await startProxy([endpointsConfig('app', backend.port), route]);
    expect((await send(port, '/')).status).toBe(200);
  });
});
