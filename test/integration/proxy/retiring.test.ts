import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { listenerConfig } from '../../support/config.ts';
import { closeHttp2, frame, frameTypes, literal, openFrames, openHttp2, request } from '../../support/http2.ts';
import { closeProxies, openRaw, portOf, receiveUntil, sendRaw, startProxyTo } from '../../support/proxy.ts';
import { until } from '../../support/until.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Whether nobody takes connections on a port. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .on('error', () => resolve(true))
      .on('connect', () => {
        socket.destroy();
        resolve(false);
      });
  });
}

// A connection that is closed while its client sends the next request costs that request.
describe('a proxy that retires', () => {
  test('leaves a kept connection alone until its next answer, which ends it', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const socket = openRaw(port);
    const first = receiveUntil(socket, '"body":""}');
    socket.write(get);
    expect(await first).toMatch(/^connection: keep-alive\r$/im);
    proxy.retire();
    const [second, end] = [receiveUntil(socket, '"body":""}'), once(socket, 'end')];
    socket.write(get);
    expect(await second).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*^connection: close\r$/im);
    await end;
  });

  test('takes new connections, and serves one request on each, on ports that open later, too', async () => {
    const { port, proxy, apply } = await startProxyTo((await startEcho()).port);
    proxy.retire();
    const late = listenerConfig('late', { port: 81 });
    await apply(late);
    for (const open of [port, portOf(proxy, late.key)])
      expect(await sendRaw(open, get)).toMatch(/^HTTP\/1\.1 (200|404) [^]*^connection: close\r$/im);
  });

  test('ends a connection of HTTP/2 with the next request on it', async () => {
    const release = Promise.withResolvers<void>();
    const backend = await startBackend((_request, response) => void release.promise.then(() => response.end('held')));
    const { port, proxy } = await startProxyTo(backend.port);
    const session = openHttp2(port);
    const before = request(session);
    await once(session, 'remoteSettings');
    proxy.retire();
    const told = once(session, 'goaway');
    const after = request(session);
    await told;
    release.resolve();
    expect(await Promise.all([before, after])).toMatchObject([
      { status: 200, body: 'held' },
      { status: 200, body: 'held' },
    ]);
  });

  // Node refuses a request whose head ends after GOAWAY, although GOAWAY has named it as served.
  test.each(['the response before it', 'the close of the proxy'])(
    'answers a request on HTTP/2 whose head has begun before %s',
    async (end) => {
      const release = Promise.withResolvers<void>();
      const backend = await startBackend(
        (incoming, response) =>
          void (incoming.url === '/held' ? release.promise : Promise.resolve()).then(() => response.end('done')),
      );
      const { port, proxy } = await startProxyTo(backend.port);
      const { socket, frames, closed } = openFrames(port);
      const isDone = (stream: number) =>
        until(() =>
          expect(frames).toContainEqual(expect.objectContaining({ type: frameTypes.data, stream, flags: 1 })),
        );
      const fields = (path: string) =>
        literal([':method', 'GET'], [':scheme', 'http'], [':path', path], [':authority', 'a']);
      const late = frame('headers', 5, 3, fields('/'));
      socket.write(
        Buffer.concat([
          frame('headers', 5, 1, fields('/held')),
          frame('ping', 0, 0, Buffer.alloc(8)),
          late.subarray(0, 12),
        ]),
      );
      await until(() => expect(frames).toContainEqual(expect.objectContaining({ type: frameTypes.ping })));
      let ended: Promise<unknown> = closed;
      if (end === 'the close of the proxy') ended = proxy.close({ graceMs: 5_000 });
      else proxy.retire();
      release.resolve();
      await isDone(1);
      socket.write(late.subarray(12));
      await isDone(3);
      await Promise.all([ended, closed]);
      expect(frames.find(({ type }) => type === frameTypes.goaway)?.payload.readUInt32BE()).toBe(3);
    },
  );

  test('answers what was sent to it before it closes', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const [kept, fresh] = [openRaw(port), openRaw(port)];
    await until(() => expect(proxy.counters().connections).toBe(2));
    const first = receiveUntil(kept, '"body":""}');
    kept.write(get);
    await first;
    const answers = Promise.all([kept, fresh].map((socket) => receiveUntil(socket, '"body":""}')));
    // It has come by the time of the call, and nobody has read it.
    for (const socket of [kept, fresh]) socket.write(get);
    await proxy.close({ graceMs: 5_000 });
    for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*^connection: close\r$/im);
  });

  test('answers the next request on an idle connection while it closes', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const [kept, silent] = [openRaw(port), openRaw(port)];
    const first = receiveUntil(kept, '"body":""}');
    kept.write(get);
    await first;
    await until(() => expect(proxy.counters().connections).toBe(2));
    const closed = proxy.close({ graceMs: 600_000, idleMs: 300_000 });
    await until(async () => expect(await isRefused(port)).toBe(true));
    for (const socket of [kept, silent]) {
      const [answer, end] = [receiveUntil(socket, '"body":""}'), once(socket, 'end')];
      socket.write(get);
      expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*^connection: close\r$/im);
      await end;
    }
    await closed;
  });

  test('closes connections that stay idle', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const kept = openRaw(port);
    const first = receiveUntil(kept, '"body":""}');
    kept.write(get);
    await first;
    const end = once(kept, 'close');
    await proxy.close({ graceMs: 600_000, idleMs: 1 });
    await end;
    expect(kept.destroyed).toBe(true);
  });

  test('takes the connections that stand before it closes', async () => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const socket = openRaw(port);
    const answer = receiveUntil(socket, '"body":""}');
    socket.write(get);
    // The system has accepted the connection by then, and nobody has looked.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await proxy.close({ graceMs: 5_000 });
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*^connection: close\r$/im);
  });
});

test('a proxy that closes serves all connections that are established but not accepted yet', async () => {
  const { port, proxy } = await startProxyTo((await startEcho()).port);
  const answers = Array.from({ length: 40 }, () => sendRaw(port, get));
  // The kernel establishes them. The proxy would accept one per turn of the event loop.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await proxy.close({ graceMs: 10_000 });
  const statuses = (await Promise.all(answers)).map((answer) => answer.slice(0, 12));
  expect(statuses).toEqual(Array.from({ length: 40 }, () => 'HTTP/1.1 200'));
});
