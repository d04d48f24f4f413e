import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Pool } from 'undici';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import {
  closeProxies,
  openRaw,
  portOf,
  prefixRule,
  receiveUntil,
  routeTo,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
  web,
  webRoute,
} from '../../support/proxy.ts';
import { routeConfig, routeRule } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A backend that answers when it is told to. */
async function startHeld() {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const backend = await startBackend((_request, response) => {
    arrived.resolve();
    void release.promise.then(() => response.end('held'));
  });
  return { port: backend.port, arrived: arrived.promise, release: release.resolve };
}

/** A route for everything on a listener to the Service `app`. */
function routeOn(listener: string) {
  return routeConfig(`shop/${listener}`, {
    key: `route/shop/${listener}`,
    attachments: [{ listener, hostnames: [''] }],
    rules: [routeTo('app').rules[0] ?? routeRule(0)],
  });
}

describe('a change of configuration', () => {
  test('drops no request under load', async () => {
    const [one, two] = [await startEcho('one'), await startEcho('two')];
    const { port, apply } = await startProxy([
      endpointsConfig('a', one.port),
      endpointsConfig('b', two.port),
      routeTo('a'),
    ]);
    const client = new Pool(`http://127.0.0.1:${port}`, { connections: 8 });
    const seen: Record<string, number> = {};
    const changes = new AbortController();
    const worker = async (): Promise<void> => {
      while (!changes.signal.aborted) {
        const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: 'x' });
        const { backend } = (await body.json()) as { backend: string };
        seen[`${statusCode} ${backend}`] = (seen[`${statusCode} ${backend}`] ?? 0) + 1;
      }
    };
    const workers = Array.from({ length: 8 }, worker);
    for (let change = 0; change < 60; change += 1) {
      const [service, ports] = change % 2 === 0 ? ['b', [two.port]] : ['a', [one.port]];
      // The endpoints come and go with the route that uses them, the listener changes with every step.
      await apply({ ...web, generation: change + 2 }, endpointsConfig(service, ...ports), routeTo(service));
      await apply(endpointsConfig(service === 'a' ? 'b' : 'a'));
      await send(port, '/');
    }
    changes.abort();
    await Promise.all(workers);
    await client.close();
    expect(Object.keys(seen).toSorted()).toEqual(['200 one', '200 two']);
  });

  test('leaves requests under way to what they matched', async () => {
    const held = await startHeld();
    const { port, proxy } = await startProxy([endpointsConfig('app', held.port), routeTo('app')]);
    const answer = send(port, '/');
    await held.arrived;
    await proxy.apply({ upserts: [], removals: [routeTo('app').key, endpointsConfig('app').key, web.key] });
    held.release();
    expect(await answer).toMatchObject({ status: 200, body: 'held' });
  });

  test('takes effect as a whole: removed routes and endpoints are gone', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    await proxy.apply({ upserts: [], removals: [endpointsConfig('app').key] });
    expect((await send(port, '/')).status).toBe(503);
    await proxy.apply({ upserts: [], removals: [routeTo('app').key] });
    expect((await send(port, '/')).status).toBe(404);
  });

  test('closes the connections to endpoints that are gone, those still in use by another Service excepted', async () => {
    const closed: string[] = [];
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) =>
        startBackend((request, response) => {
          request.socket.once('close', () => closed.push(name));
          response.end(name);
        }),
      ),
    );
    if (one === undefined || two === undefined) throw new Error('no backend');
    const { port, apply } = await startProxy([
      endpointsConfig('app', one.port, two.port),
      endpointsConfig('other', two.port),
      routeTo('app'),
    ]);
    expect([(await send(port, '/')).body, (await send(port, '/')).body]).toEqual(['one', 'two']);
    await apply(endpointsConfig('app'));
    await eventually(() => expect(closed).toEqual(['one']));
    await apply(endpointsConfig('app', two.port));
    expect((await send(port, '/')).body).toBe('two');
    expect(two.connections()).toBe(1);
  });

  test('of a listener that stays where it is leaves its connections alone', async () => {
    const { port, apply } = await startProxyTo((await startEcho()).port);
    const socket = openRaw(port);
    const first = receiveUntil(socket, '"body":""}');
    socket.write(get);
    await first;
    expect(await apply({ ...web, hostname: 'shop.example' })).toEqual([]);
    const second = receiveUntil(socket, '404 Not Found\n');
    socket.write(get);
    expect(await second).toMatch(/^HTTP\/1\.1 404/m);
    expect(portOf((await startProxyTo(1)).proxy)).not.toBe(port);
    socket.destroy();
  });
});

describe('ports', () => {
  test('a removed listener ends its connections after the answers under way, and its port is free', async () => {
    const held = await startHeld();
    const { port, proxy } = await startProxy([endpointsConfig('app', held.port), routeTo('app')]);
    const idle = openRaw(port);
    idle.write('GET /none HTTP/1.1\r\nHost: a\r\n\r\n');
    const busy = openRaw(port);
    const answered = receiveUntil(busy, 'held');
    busy.write(get);
    await held.arrived;
    held.release();
    await receiveUntil(idle, 'held').catch(() => undefined);
    await answered;
    const ends = [once(idle.resume(), 'end'), once(busy.resume(), 'end')];
    await proxy.apply({ upserts: [], removals: [web.key] });
    await Promise.all(ends);
    expect(await sendRaw(port, get)).toBe('');
    expect(proxy.addressesOf(web.key)).toEqual([]);
  });

  test('an answer that begins during the drain says that the connection ends', async () => {
    const held = await startHeld();
    const { port, proxy } = await startProxy([endpointsConfig('app', held.port), routeTo('app')]);
    const answer = sendRaw(port, get);
    await held.arrived;
    await proxy.apply({ upserts: [], removals: [web.key] });
    held.release();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*held/i);
  });

  test('so does the connection of an answer that had begun before', async () => {
    const release = Promise.withResolvers<void>();
    const backend = await startBackend((_request, response) => {
      response.write('begun');
      void release.promise.then(() => response.end('ended'));
    });
    const { port, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    const begun = receiveUntil(socket, 'begun');
    const answered = receiveUntil(socket, 'ended\r\n0\r\n\r\n');
    socket.write(get);
    expect(await begun).toMatch(/connection: keep-alive/i);
    await proxy.apply({ upserts: [], removals: [web.key] });
    release.resolve();
    await answered;
    await once(socket, 'end');
    expect(proxy.counters().openRequests).toBe(0);
  });

  test('one in use is a problem of its listeners alone, and is bound once it is free', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port: taken } = other.address() as AddressInfo;
    const blocked = listenerConfig('blocked', { port: taken });
    const { port, proxy, apply } = await startProxy(
      [endpointsConfig('app', (await startEcho()).port), routeTo('app')],
      {
        bind: (listener) => [{ host: '127.0.0.1', port: listener.port === taken ? taken : 0 }],
      },
    );
    expect(await apply(blocked, routeOn(blocked.key))).toEqual([
      {
        key: blocked.key,
        message: `cannot listen on 127.0.0.1:${taken}: the port is already in use`,
        isWorthRetry: true,
      },
    ]);
    expect(proxy.addressesOf(blocked.key)).toEqual([]);
    expect((await send(port, '/')).status).toBe(200);
    other.close();
    await once(other, 'close');
    expect(await apply(routeOn(blocked.key))).toEqual([]);
    expect((await send(taken, '/')).status).toBe(200);
  });

  test('one in use leaves no timers behind, however often it is tried', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port: taken } = other.address() as AddressInfo;
    const { apply } = await startProxy([], {
      bind: ({ port }) => [{ host: '127.0.0.1', port: port === taken ? taken : 0 }],
    });
    const [began, ended] = [jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'clearInterval')];
    try {
      await apply(listenerConfig('blocked', { port: taken }));
      await apply();
      expect(began.mock.results.length).toBeGreaterThan(0);
      expect(ended.mock.calls.flat()).toEqual(expect.arrayContaining(began.mock.results.map(({ value }) => value)));
    } finally {
      began.mockRestore();
      ended.mockRestore();
      other.close();
    }
  });

  test('several addresses serve their own listeners; a listener moves to another without a gap', async () => {
    const second = listenerConfig('second');
    let hostOfSecond = '127.0.0.2';
    const { proxy, apply } = await startProxy([], {
      bind: (listener) => [{ host: listener.key === second.key ? hostOfSecond : '127.0.0.1', port: 0 }],
    });
    await apply(second, endpointsConfig('app', (await startEcho()).port), routeOn(second.key));
    const before = proxy.addressesOf(second.key)[0];
    expect(before?.host).toBe('127.0.0.2');
    expect((await send(portOf(proxy), '/')).status).toBe(404);
    hostOfSecond = '127.0.0.3';
    await apply(second);
    expect(proxy.addressesOf(second.key)[0]?.host).toBe('127.0.0.3');
    expect((await fetch(`http://127.0.0.3:${portOf(proxy, second.key)}/`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.2:${before?.port}/`)).rejects.toThrow('fetch failed');
  });

  test('two listeners for one hostname: the first serves, the second is a problem', async () => {
    const { port, apply } = await startProxy([endpointsConfig('app', (await startEcho()).port), routeTo('app')]);
    const twin = listenerConfig('twin');
    expect(await apply(twin)).toEqual([
      { key: twin.key, message: `${web.key} already serves the same hostname on this port` },
    ]);
    expect((await send(port, '/')).status).toBe(200);
  });

  test('transactions apply in order, even where an earlier one has to wait for a port', async () => {
    const second = listenerConfig('second');
    const { port, apply } = await startProxy([endpointsConfig('app', (await startEcho()).port)], {
      bind: (listener) => [{ host: listener.key === second.key ? '127.0.0.2' : '127.0.0.1', port: 0 }],
    });
    const below = (prefix: string) => webRoute(prefixRule(prefix, []));
    await Promise.all([apply(second, below('/1')), apply(below('/2'))]);
    expect((await send(port, '/2')).status).toBe(200);
    expect((await send(port, '/1')).status).toBe(404);
  });
});

describe('the end', () => {
  test('answers under way are completed, idle connections end, new ones are not taken', async () => {
    const held = await startHeld();
    const { port, proxy } = await startProxy([endpointsConfig('app', held.port), routeTo('app')]);
    const silent = openRaw(port);
    await once(silent, 'connect');
    const answer = sendRaw(port, get);
    await held.arrived;
    const closed = proxy.close({ graceMs: 60_000 });
    await once(silent.resume(), 'close');
    expect(await sendRaw(port, get)).toBe('');
    held.release();
    expect(await answer).toMatch(/connection: close[^]*held/i);
    await closed;
    expect(proxy.counters()).toMatchObject({ openConnections: 0, openRequests: 0 });
  });

  test('what outlasts the time of grace is cut off', async () => {
    const held = await startHeld();
    const { port, proxy } = await startProxy([endpointsConfig('app', held.port), routeTo('app')]);
    const answer = sendRaw(port, get);
    await held.arrived;
    await proxy.close({ graceMs: 1 });
    expect(await answer).toBe('');
  });
});
