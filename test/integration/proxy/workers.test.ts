import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import type { ConfigResource } from '../../../src/core/routing/config.ts';
import type { AccessLogEntry } from '../../../src/proxy/handling/access-log.ts';
import type { ProxyOptions } from '../../../src/proxy/proxy.ts';
import type { ProxyWorkers } from '../../../src/proxy/workers/pool.ts';
import {
  closeBackends,
  refusingPort,
  startBackend,
  startEcho,
  startNegotiatingBackend,
} from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { layer4Route } from '../../support/layer4.ts';
import { portOf, routeTo, send, throwFault, web } from '../../support/proxy.ts';
import { createWorkersUnderTest, workerScript } from '../../support/proxy-workers.ts';

const running = new Set<ProxyWorkers>();
const open = new Set<{ destroy(): unknown }>();
const datagramSockets = new Set<DatagramSocket>();

afterEach(async () => {
  for (const socket of open) socket.destroy();
  for (const socket of datagramSockets) socket.close();
  await Promise.all([...running].map((proxy) => proxy.close({ graceMs: 0 })));
  for (const set of [running, open, datagramSockets]) set.clear();
});
afterEach(closeBackends);
// Applies to workers that start from now on.
beforeAll(() => setFlagsFromString('--max-old-space-size=64'));

interface Pace {
  readonly pause?: number;
  readonly check?: number;
}

/** A data plane with two workers and the listener `web`. */
async function start(resources: readonly ConfigResource[], options: Partial<ProxyOptions> = {}, pace: Pace = {}) {
  const ended: unknown[] = [];
  const faults: unknown[] = [];
  const log: AccessLogEntry[] = [];
  const proxy = createWorkersUnderTest(
    {
      bind: () => [{ host: '127.0.0.1', port: 0 }],
      certificates: () => undefined,
      onFault: (error) => faults.push(error),
      accessLog: (entry) => log.push(entry),
      ...options,
    },
    { onWorkerEnd: (_worker, error) => ended.push(error), pace: { pause: 1, ...pace } },
  );
  running.add(proxy);
  const problems = await proxy.apply({ upserts: [web, ...resources], removals: [] });
  const apply = (...upserts: readonly ConfigResource[]) => proxy.apply({ upserts, removals: [] });
  return { proxy, problems, ended, faults, log, port: portOf(proxy), apply };
}

async function startEchoing(options: Partial<ProxyOptions> = {}, pace: Pace = {}) {
  return start([endpointsConfig('app', (await startEcho()).port), routeTo('app')], options, pace);
}

/** A backend that answers each request when it is released. */
async function startHeld() {
  const waiting: (() => void)[] = [];
  const backend = await startBackend(({ url }, response) => {
    if (url === '/exit') response.end();
    else waiting.push(() => response.end('held'));
  });
  return { port: backend.port, waiting, release: () => waiting.splice(0).forEach((end) => end()) };
}

/** A connection with one request. Resolves with the connection after the response, or with `undefined` if it is closed. */
function sendAndKeep(port: number, path = '/'): Promise<Socket | undefined> {
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  open.add(socket);
  socket.once('data', () => resolve(socket)).once('close', () => resolve(undefined));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return promise;
}

/** Ends the worker that gets the request. */
async function endWorker(port: number, path = '/exit'): Promise<void> {
  await send(port, path).catch(() => undefined);
}

describe('requests', () => {
  test('are served by both workers, logged and counted in sum', async () => {
    const { port, proxy, problems, log } = await startEchoing();
    expect(problems).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(port, '/')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    const counts = { connections: 40, requests: 40, openConnections: 0, openRequests: 0 };
    await eventually(() => expect(proxy.counters()).toMatchObject(counts));
    expect(proxy.counters().responses['2xx']).toBe(40);
    await eventually(() => expect(log).toHaveLength(40));
    // Each worker has a connection to the backend.
    expect(proxy.utilization()).toBeGreaterThanOrEqual(0);
  });

  test('are not lost while listeners, routes and certificates change', async () => {
    const authority = await createAuthority();
    const issue = async () => {
      const names = { dnsNames: ['a.test'], ipAddresses: [] };
      const { certificate, privateKey } = await issueServingCertificate(authority, names);
      return { cert: certificate, key: privateKey };
    };
    const pairs = [await issue(), await issue()];
    let pair = pairs[0];
    const [one, two] = [await startEcho('one'), await startEcho('two')];
    const started = await start([endpointsConfig('app', one.port), routeTo('app')], { certificates: () => pair });
    const { port, proxy, apply } = started;
    const secure = listenerConfig('secure', { protocol: 'HTTPS', port: 443, certificates: ['shop/secure'] });
    const changes = new AbortController();
    const failed: unknown[] = [];
    let count = 0;
    const client = async (): Promise<void> => {
      while (!changes.signal.aborted) {
        const status = await send(port, '/').then(
          ({ status: received }) => received,
          (error: unknown) => error,
        );
        count += 1;
        if (status !== 200) failed.push(status);
      }
    };
    const clients = Array.from({ length: 6 }, client);
    for (let change = 0; change < 20; change += 1) {
      pair = pairs[change % 2];
      await apply(
        { ...web, generation: change },
        secure,
        endpointsConfig('app', change % 2 === 0 ? two.port : one.port),
      );
      await proxy.reloadCertificates();
      await proxy.apply({ upserts: [], removals: [secure.key] });
    }
    changes.abort();
    await Promise.all(clients);
    expect([failed, count > 20]).toEqual([[], true]);
  });

  test('of a removed port complete, and the port is closed in both workers', async () => {
    const held = await startHeld();
    const { port, proxy } = await start([endpointsConfig('app', held.port), routeTo('app')]);
    const answers = Array.from({ length: 12 }, () => send(port, '/'));
    await eventually(() => expect(held.waiting).toHaveLength(12));
    await proxy.apply({ upserts: [], removals: [web.key] });
    for (let attempt = 0; attempt < 8; attempt += 1) await expect(send(port, '/')).rejects.toThrow('ECONNREFUSED');
    held.release();
    expect((await Promise.all(answers)).map(({ body }) => body)).toEqual(Array.from({ length: 12 }, () => 'held'));
    expect(proxy.addressesOf(web.key)).toEqual([]);
  });

  test('complete when the data plane closes', async () => {
    const held = await startHeld();
    const { port, proxy } = await start([endpointsConfig('app', held.port), routeTo('app')]);
    const answers = Array.from({ length: 12 }, () => send(port, '/'));
    await eventually(() => expect(held.waiting).toHaveLength(12));
    proxy.retire();
    const closed = proxy.close({ graceMs: 10_000 });
    held.release();
    expect((await Promise.all(answers)).map(({ body }) => body)).toEqual(Array.from({ length: 12 }, () => 'held'));
    await closed;
    await expect(send(port, '/')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a port', () => {
  test('of another process is a problem until it is free', async () => {
    const other = await startEcho();
    const bind = () => [{ host: '127.0.0.1', port: other.port }];
    const proxy = createWorkersUnderTest({ bind, certificates: () => undefined });
    running.add(proxy);
    const problems = await proxy.apply({ upserts: [web], removals: [] });
    const message = `cannot listen on 127.0.0.1:${other.port}: the port is already in use`;
    expect(problems).toEqual([{ key: web.key, message, isWorthRetry: true }]);
    await other.close();
    expect(await proxy.apply({ upserts: [], removals: [] })).toEqual([]);
    expect((await send(other.port, '/')).status).toBe(404);
  });

  test('resumes TLS sessions in any worker', async () => {
    const authority = await createAuthority();
    const names = { dnsNames: ['a.test'], ipAddresses: [] };
    const { certificate, privateKey } = await issueServingCertificate(authority, names);
    const secure = listenerConfig('secure', { protocol: 'HTTPS', port: 443, certificates: ['shop/secure'] });
    const { proxy } = await start([secure], {
      bind: ({ port }) => [{ host: port === 443 ? '127.0.0.2' : '127.0.0.1', port: 0 }],
      certificates: () => ({ cert: certificate, key: privateKey }),
    });
    const begin = (session?: Buffer): TLSSocket => {
      const to = { host: '127.0.0.2', port: portOf(proxy, secure.key), servername: 'a.test' };
      const socket = connectTls({ ...to, rejectUnauthorized: false, ...(session && { session }) });
      open.add(socket);
      // Tickets are read with the data.
      return socket.on('error', () => undefined).resume();
    };
    const [session] = (await once(begin(), 'session')) as [Buffer];
    const resume = async (): Promise<boolean> => {
      const socket = begin(session);
      await once(socket, 'secureConnect');
      return socket.isSessionReused();
    };
    const again = await Promise.all(Array.from({ length: 12 }, resume));
    expect(again).toEqual(Array.from({ length: 12 }, () => true));
  });
});

test('a backend gets its client certificate from any worker, also a changed one and from a new worker', async () => {
  const authority = await createAuthority();
  const issue = () => issueLeaf(authority, { dnsNames: ['app.test'] });
  const own = { ...(await issue()), ca: authority.certificate, requestCert: true };
  const backend = await startNegotiatingBackend(own, (request, response) =>
    response.end((request.socket as TLSSocket).getPeerX509Certificate()?.serialNumber ?? 'none'),
  );
  let pair = await issue();
  const tls = { serverName: 'app.test', subjectAltNames: [], authorities: [authority.certificate] };
  const endpoints = {
    ...endpointsConfig('app', backend.port),
    tls: { ...tls, clientCertificate: { secret: 'shop/own' } },
  };
  const { port, proxy, apply, ended } = await start([routeTo('app')], {
    certificates: (secret) => (secret === 'shop/own' ? pair : undefined),
  });
  const answers = async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => send(port, '/')));
    return new Set(all.map(({ body }) => body));
  };
  const serial = () => new X509Certificate(pair.cert).serialNumber;
  await apply(endpoints);
  expect(await answers()).toEqual(new Set([serial()]));
  pair = await issue();
  await proxy.reloadCertificates();
  expect(await answers()).toEqual(new Set([serial()]));
  await endWorker(port);
  await eventually(() => expect([ended.length, proxy.serving]).toEqual([1, 2]));
  expect(await answers()).toEqual(new Set([serial()]));
});

describe('limits', () => {
  test('of connections per client apply to both workers together', async () => {
    const { port, proxy } = await startEchoing({ limits: { connectionsPerClient: 10 } });
    const kept: (Socket | undefined)[] = [];
    for (let count = 0; count < 30; count += 1) kept.push(await sendAndKeep(port));
    expect(kept.filter((socket) => socket !== undefined)).toHaveLength(10);
    expect(proxy.counters().limitsReached['client-connections']).toBe(20);
    for (const socket of kept) socket?.destroy();
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
    expect(await sendAndKeep(port)).toBeDefined();
  });

  test('of requests apply to both workers together, and end with a worker', async () => {
    const held = await startHeld();
    const { port, proxy, ended } = await start([endpointsConfig('app', held.port), routeTo('app')], {
      limits: { requests: 16 },
    });
    const statuses: number[] = [];
    const answers = Array.from({ length: 13 }, () => send(port, '/').catch(() => undefined));
    await eventually(() => expect(held.waiting).toHaveLength(13));
    // One client can have seven eighths: fourteen.
    const last = send(port, '/').catch(() => undefined);
    await eventually(() => expect(held.waiting).toHaveLength(14));
    for (let count = 0; count < 6; count += 1) statuses.push((await send(port, '/')).status);
    expect(statuses).toEqual([503, 503, 503, 503, 503, 503]);
    held.waiting.pop()?.();
    await last;
    // The client has the response before the worker has counted its end.
    await eventually(() => expect(proxy.counters().openRequests).toBe(13));
    await endWorker(port);
    await eventually(() => expect([ended.length, proxy.serving]).toEqual([1, 2]));
    const open = proxy.counters().openRequests;
    const more = Array.from({ length: 14 - open }, () => send(port, '/'));
    await eventually(() => expect(proxy.counters().openRequests).toBe(14));
    await eventually(() => {
      held.release();
      expect(proxy.counters().openRequests).toBe(0);
    });
    expect((await Promise.all(more)).every(({ status }) => status === 200)).toBe(true);
    await Promise.all(answers);
  });

  test('an endpoint that one worker cannot connect to is suspended in both', async () => {
    const healthy = await startEcho();
    const dead = await refusingPort();
    const { port, proxy, apply } = await start([routeTo('app')]);
    await eventually(async () => {
      // The suspension lasts for a second; a slower attempt proves nothing.
      await apply(endpointsConfig('app', healthy.port));
      await apply(endpointsConfig('app', dead, healthy.port));
      const before = proxy.counters().upstreamConnectFailures;
      while (proxy.counters().upstreamConnectFailures === before) await send(port, '/');
      const began = performance.now();
      for (let count = 0; count < 12; count += 1) expect((await send(port, '/')).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(900);
      expect(proxy.counters().upstreamConnectFailures).toBe(before + 1);
    });
  });
});

describe('a worker that ends', () => {
  test.each(['/exit', '/fill'])('because of %s loses its own connections only, and is replaced', async (path) => {
    const { port, proxy, ended, apply } = await startEchoing();
    const kept = await Promise.all(Array.from({ length: 24 }, () => sendAndKeep(port)));
    await endWorker(port, path);
    await eventually(() => expect(ended).toHaveLength(1));
    const left = (): number => kept.filter((socket) => socket?.destroyed === false).length;
    // The clients may learn of the end of their connections after the pool has.
    await eventually(() => {
      expect([left() > 0, left() < 24]).toEqual([true, true]);
      expect(proxy.counters().openConnections).toBe(left());
    });
    const other = await startEcho('other');
    expect(await apply(endpointsConfig('app', other.port))).toEqual([]);
    await eventually(() => expect(proxy.serving).toBe(2));
    const answers = await Promise.all(Array.from({ length: 16 }, () => send(port, '/')));
    expect(
      new Set(answers.map(({ status, body }) => `${status} ${(JSON.parse(body) as { backend: string }).backend}`)),
    ).toEqual(new Set(['200 other']));
    expect(proxy.counters().requests).toBe(24 + 1 + 16);
  });

  test('binds the listeners that a failed change would have removed', async () => {
    const { port, proxy, ended } = await startEchoing();
    const broken = { ...routeTo('app'), rules: undefined } as unknown as ConfigResource;
    await expect(proxy.apply({ upserts: [broken], removals: [web.key] })).rejects.toThrow("reading 'map'");
    expect(proxy.addressesOf(web.key)).toEqual([{ host: '127.0.0.1', port }]);
    // Both, because only a new worker needs the addresses.
    for (let count = 1; count <= 2; count += 1) {
      await endWorker(port);
      await eventually(() => expect([ended.length, proxy.serving]).toEqual([count, 2]));
    }
    expect((await send(port, '/')).status).toBe(200);
  });

  test('is replaced although a change failed before', async () => {
    const { port, proxy, ended, apply } = await startEchoing();
    // No route from a controller lacks its rules.
    const broken = { ...routeTo('app'), rules: undefined } as unknown as ConfigResource;
    await expect(apply(broken)).rejects.toThrow("reading 'map'");
    await endWorker(port);
    await eventually(() => expect([ended.length, proxy.serving]).toEqual([1, 2]));
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(port, '/')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('is replaced although no thread could be started at first', async () => {
    let failures = 3;
    const ended: string[] = [];
    // Node throws, too, if a limit of processes is reached.
    const scriptOf = (): URL => {
      if (ended.length > 0 && failures-- > 0) throw new Error('no thread');
      return workerScript();
    };
    const options = {
      bind: () => [{ host: '127.0.0.1', port: 0 }],
      certificates: () => undefined,
      onFault: throwFault,
    };
    const proxy = createWorkersUnderTest(
      options,
      { onWorkerEnd: (_worker, error) => ended.push((error as Error).message), pace: { pause: 1 } },
      scriptOf,
    );
    running.add(proxy);
    await proxy.apply({
      upserts: [web, endpointsConfig('app', (await startEcho()).port), routeTo('app')],
      removals: [],
    });
    await endWorker(portOf(proxy));
    await eventually(() => expect([ended.slice(1), proxy.serving]).toEqual([Array(3).fill('no thread'), 2]));
    expect((await send(portOf(proxy), '/')).status).toBe(200);
  });

  test('because its event loop does not run is replaced', async () => {
    const { port, proxy, ended } = await startEchoing({}, { check: 1_000 });
    await send(port, '/hang');
    await eventually(() => expect([ended.length > 0, proxy.serving]).toEqual([true, 2]));
    expect((await send(port, '/')).status).toBe(200);
  });

  test('is not one with an uncaught exception, which is reported', async () => {
    const { port, proxy, ended, faults } = await startEchoing();
    await send(port, '/throw');
    await eventually(() => expect(faults).toEqual([expect.objectContaining({ message: 'thrown in a worker' })]));
    expect([ended, proxy.serving]).toEqual([[], 2]);
  });
});

describe('flows of UDP', () => {
  const udp = [2, 3].map((port) => listenerConfig(`udp-${port}`, { protocol: 'UDP', port }));

  async function bound(): Promise<DatagramSocket> {
    const socket = createSocket('udp4').on('error', () => undefined);
    datagramSockets.add(socket);
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return socket;
  }

  async function ask(socket: DatagramSocket, host: string, port: number): Promise<string> {
    const answer = once(socket, 'message') as Promise<[Buffer]>;
    socket.send('?', port, host);
    return String((await answer)[0]);
  }

  test('keep one backend each, on all ports, also after a worker was replaced', async () => {
    const backend = await bound();
    backend.on('message', (_message, { port, address }) => backend.send(String(port), port, address));
    const routes = udp.map((listener, index) => ({
      ...layer4Route('UDPRoute', listener),
      key: `layer4Route/${index}`,
    }));
    const { proxy, port, ended, problems } = await start(
      [...udp, ...routes, endpointsConfig('app', backend.address().port), routeTo('app')],
      { bind: ({ port: number }) => [{ host: `127.0.0.${number < 10 ? number : 1}`, port: 0 }] },
    );
    expect(problems).toEqual([]);
    const clients = await Promise.all(Array.from({ length: 8 }, bound));
    const places = udp.map(({ key, port: number }) => ({ host: `127.0.0.${number}`, port: portOf(proxy, key) }));
    const sources = async () => {
      const seen: string[] = [];
      for (const client of clients) for (const { host, port: to } of places) seen.push(await ask(client, host, to));
      return seen;
    };
    const first = await sources();
    expect(new Set(first).size).toBe(16);
    expect(await sources()).toEqual(first);
    expect(proxy.counters().layer4.open.udp).toBe(16);
    await endWorker(port);
    await eventually(() => expect([ended.length, proxy.serving]).toEqual([1, 2]));
    const second = await sources();
    // The flows of one port have survived.
    expect(second.filter((source) => first.includes(source)).length).toBeGreaterThanOrEqual(8);
    expect(await sources()).toEqual(second);
  });
});
