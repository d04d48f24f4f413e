import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeBackends, startBackend } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { closeProxies, openRaw, sendRaw, startProxyTo } from '../support/proxy.ts';
import type { ProxyUnderTest } from '../support/proxy.ts';
import { scaled } from './support/scale.ts';

let started: ProxyUnderTest;
let backend: Awaited<ReturnType<typeof startBackend>>;

beforeAll(async () => {
  backend = await startBackend((request, response) => {
    if (request.url !== '/stall') response.end('ok');
  });
  started = await startProxyTo(backend.port, { aheadTimeout: scaled(500, 10_000) });
});
afterAll(closeProxies);
afterAll(closeBackends);

const pipelined = 'GET /stall HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(scaled(20_000, 200_000));

test('a client that pipelines to a backend that does not respond costs one request', async () => {
  const { proxy, port } = started;
  const before = process.memoryUsage().rss;
  const socket = openRaw(port);
  await once(socket, 'connect');
  socket.write(pipelined);
  await eventually(() => expect(proxy.counters().openRequests).toBe(1));
  for (let count = 0; count < scaled(20, 1_000); count += 1) {
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  }
  expect(proxy.counters()).toMatchObject({ openRequests: 1, openConnections: 1 });
  // Node, the attacker and the backend share this process; what was sent is in the kernel and in the attacker.
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
  socket.destroy();
  // It is seen that the client has left once what it sent ahead is dropped.
  await delay(scaled(0, 10_000));
  await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  // One connection stays idle for the next request.
  await eventually(() => expect(backend.openConnections()).toBe(1));
  // It used to keep a core busy for good. The collector's and the compiler's threads may still work for other tests.
  await eventually(async () => {
    const before = process.threadCpuUsage();
    await delay(200);
    const { user, system } = process.threadCpuUsage();
    expect(user + system - before.user - before.system).toBeLessThan(150_000);
  });
});
