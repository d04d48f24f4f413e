import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { MirrorFilter, RouteFilter } from '../../../src/core/routing/config.ts';
import { closeBackends, refusingPort, startBackend, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { backendOf, closeProxies, echoed, prefixRule, send, startProxy, webRoute } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

function mirrorTo(service: string, numerator = 1, denominator = 1): MirrorFilter {
  return { type: 'mirror', target: { type: 'endpoints', key: endpointsConfig(service).key }, numerator, denominator };
}

/** Notes what it was sent, and answers with an error that nobody must see. */
async function startWitness() {
  const seen: string[] = [];
  let started = 0;
  const { port } = await startBackend((request, response) => {
    let body = '';
    started += 1;
    request
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        body += chunk;
      })
      .on('error', () => seen.push('broken'))
      .on('end', () => {
        seen.push(
          `${request.method} ${request.url} ${request.headers.host} ${String(request.headers['x-set'])} ${body}`,
        );
        response.writeHead(500).end('never seen');
      });
  });
  return {
    port,
    seen,
    get started() {
      return started;
    },
  };
}

async function startMirroring(filters: readonly RouteFilter[], ports: Record<string, number>) {
  const app = await startEcho('app');
  const resources = Object.entries(ports).map(([service, port]) => endpointsConfig(service, port));
  return startProxy([endpointsConfig('app', app.port), ...resources, webRoute(prefixRule('/', filters))]);
}

test('every mirror gets the request as the backend gets it, and the client sees the backend alone', async () => {
  const [one, two] = [await startWitness(), await startWitness()];
  const set: RouteFilter = { type: 'requestHeaders', set: [{ name: 'x-set', value: 'yes' }], add: [], remove: [] };
  const rewrite: RouteFilter = { type: 'rewrite', hostname: 'inner.example', path: { type: 'full', value: '/inner' } };
  const { port, proxy } = await startMirroring([mirrorTo('one'), set, mirrorTo('two'), rewrite], {
    one: one.port,
    two: two.port,
  });
  const body = 'b'.repeat(200_000);
  expect(await echoed(port, '/outer?q=1', { method: 'POST', body })).toMatchObject({
    backend: 'app',
    target: '/inner?q=1',
    body,
  });
  const expected = [`POST /inner?q=1 inner.example yes ${body}`];
  await eventually(() => expect([one.seen, two.seen]).toEqual([expected, expected]));
  expect(proxy.counters()).toMatchObject({ mirrored: 2, requests: 1 });
});

test.each([
  [1, 4, 5],
  [20, 100, 4],
  [0, 100, 0],
  [7, 7, 20],
])('%i of %i requests are copied', async (numerator, denominator, copies) => {
  const witness = await startWitness();
  const { port, proxy } = await startMirroring([mirrorTo('copy', numerator, denominator)], { copy: witness.port });
  for (let request = 0; request < 20; request += 1) await send(port, '/');
  expect(proxy.counters().mirrored).toBe(copies);
  await eventually(() => expect(witness.seen).toHaveLength(copies));
});

test('a mirror of one backendRef alone gets what that backend gets', async () => {
  const witness = await startWitness();
  const app = await startEcho('app');
  const backends = [
    backendOf('app', { filters: [mirrorTo('copy'), { type: 'rewrite', path: { type: 'full', value: '/inner' } }] }),
    backendOf('app'),
  ];
  const { port } = await startProxy([
    endpointsConfig('app', app.port),
    endpointsConfig('copy', witness.port),
    webRoute(prefixRule('/', [], { backends })),
  ]);
  const targets = [await echoed(port, '/outer'), await echoed(port, '/outer')].map(({ target }) => target);
  expect(targets.toSorted()).toEqual(['/inner', '/outer']);
  await eventually(() => expect(witness.seen).toHaveLength(1));
  expect(witness.seen[0]).toMatch(/^GET \/inner /);
});

test('a mirror that is gone, silent, or takes no body harms nobody', async () => {
  const silent = await startRawBackend((socket) => socket.pause());
  const { port } = await startMirroring([mirrorTo('gone'), mirrorTo('silent'), mirrorTo('none')], {
    gone: await refusingPort(),
    silent: silent.port,
  });
  const body = 'b'.repeat(8_000_000);
  expect(await echoed(port, '/', { method: 'PUT', body })).toMatchObject({ backend: 'app', body });
});

test('a request that is tried again is copied once', async () => {
  const witness = await startWitness();
  let calls = 0;
  const moody = await startBackend((request, response) => {
    calls += 1;
    request.resume().on('end', () => response.writeHead(calls === 1 ? 503 : 200).end());
  });
  const rule = prefixRule('/', [mirrorTo('copy')], { retry: { codes: [503], attempts: 1, backoff: 1 } });
  const { port } = await startProxy([
    endpointsConfig('app', moody.port),
    endpointsConfig('copy', witness.port),
    webRoute(rule),
  ]);
  expect((await send(port, '/', { method: 'POST', body: 'once' })).status).toBe(200);
  await eventually(() => expect(witness.seen).toHaveLength(1));
  expect(witness.seen[0]).toMatch(/ once$/);
});

test('a client that goes away in the middle of its body ends the copies, which must not look complete', async () => {
  const witness = await startWitness();
  const { port, proxy } = await startMirroring([mirrorTo('copy')], { copy: witness.port });
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.write('POST / HTTP/1.1\r\nHost: app.example\r\nContent-Length: 100\r\n\r\nhalf');
  await eventually(() => expect(witness.started).toBe(1));
  client.destroy();
  await eventually(() => expect(witness.seen).toEqual(['broken']));
  expect(proxy.counters().mirrored).toBe(1);
});

/** Answers each request without a body, or with the last chunk of one. */
function startTaking() {
  return startRawBackend((socket) =>
    socket.on('data', (bytes: Buffer) => {
      if (bytes.includes('\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }),
  );
}

// The copy has no room from its first byte on: its connection was idle, so it is sent at once.
test('a copy whose head exceeds the room for copies harms neither the request nor further copies', async () => {
  const [app, copies] = [await startTaking(), await startTaking()];
  const faults: unknown[] = [];
  const large = {
    type: 'requestHeaders' as const,
    set: [{ name: 'x-large', value: 'a'.repeat(400 * 1024) }],
    add: [],
    remove: [],
  };
  const { port, proxy } = await startProxy(
    [
      endpointsConfig('app', app.port),
      endpointsConfig('copies', copies.port),
      webRoute(
        { ...prefixRule('/large', [large, mirrorTo('copies')]), index: 0 },
        { ...prefixRule('/', [mirrorTo('copies')]), index: 1 },
      ),
    ],
    { limits: { bufferedBytes: 1024 * 1024, mirrors: 1 }, onFault: (error) => faults.push(error) },
  );
  for (const [earlier, path] of ['/', '/large', '/'].entries()) {
    // Only one copy at a time is allowed, so the next one is sent when the last one is over.
    while (proxy.counters().mirrored === earlier)
      expect(await send(port, path, { method: 'POST', body: 'body' })).toMatchObject({ status: 200 });
  }
  expect(faults).toEqual([]);
  await eventually(() => expect(proxy.counters().buffered.used).toBe(0));
});
