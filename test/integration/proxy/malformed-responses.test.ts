import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteBackend } from '../../../src/core/routing/config.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { closeBackends, startCanned, startHttp2Backend, startRawBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, frame, literal, openHttp2, request } from '../../support/http2.ts';
import { startRawHttp2Backend } from '../../support/raw-http2.ts';
import {
  backendOf,
  closeProxies,
  openRaw,
  receiveUntil,
  routeTo,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
} from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const ask = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const askUpgrade =
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

function startProxyToHttp2(port: number, limits: Partial<ProxyLimits> = {}): Promise<ProxyUnderTest> {
  const endpoints = endpointsConfig('app', port);
  return startProxy([{ ...endpoints, protocol: 'h2c' }, routeTo('app')], { limits });
}

describe('a response that no client may get becomes 502', () => {
  test.each([
    ['status 600', 'HTTP/1.1 600 A\r\nContent-Length: 0\r\n\r\n'],
    ['status 999', 'HTTP/1.1 999 A\r\nContent-Length: 0\r\n\r\n'],
    ['a switch that nobody asked for', 'HTTP/1.1 101 A\r\nUpgrade: a\r\n\r\n'],
  ])('%s', async (_name, answer) => {
    const { port } = await startProxyTo((await startCanned(answer)).port);
    expect((await send(port, '/')).status).toBe(502);
    expect((await request(openHttp2(port))).status).toBe(502);
  });

  test('status 700 from a backend in HTTP/2', async () => {
    const backend = await startRawHttp2Backend(
      (socket, stream, { type }) =>
        void (type === 'headers' && socket.write(frame('headers', 5, stream, literal([':status', '700'])))),
    );
    const { port } = await startProxyToHttp2(backend.port);
    expect((await send(port, '/')).status).toBe(502);
    expect((await request(openHttp2(port))).status).toBe(502);
  });

  test('a switch over HTTP/1.1 is granted without what speaks of a body', async () => {
    const backend = await startCanned(
      'HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n',
    );
    const refused = await startProxyTo(backend.port);
    expect(await sendRaw(refused.port, askUpgrade)).toMatch(/^HTTP\/1\.1 502 /);
    const other = await startCanned(
      'HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\nhello',
    );
    const { port } = await startProxyTo(other.port);
    const answer = await sendRaw(port, askUpgrade);
    expect(answer).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\nhello$/);
    expect(answer).not.toMatch(/trailer|transfer-encoding/i);
  });
});

test('HTTP2-Settings and other fields of the connection go to no client', async () => {
  const fields =
    'HTTP2-Settings: AAA\r\nConnection: x-a\r\nX-A: 1\r\nProxy-Connection: a\r\nTE: gzip\r\nUpgrade: h2c\r\n';
  const backend = await startCanned(
    `HTTP/1.1 103 A\r\n${fields}\r\nHTTP/1.1 200 OK\r\n${fields}Content-Length: 1\r\n\r\n1`,
  );
  const { port } = await startProxyTo(backend.port);
  const { headers } = await send(port, '/');
  for (const name of ['http2-settings', 'x-a', 'proxy-connection', 'te', 'upgrade'])
    expect(headers[name]).toBeUndefined();
  const { status, body } = await request(openHttp2(port));
  expect([status, body]).toEqual([200, '1']);
});

test('trailers that decide about framing, routing or authentication are left out', async () => {
  const backend = await startCanned(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nSet-Cookie: a=b\r\nAuthorization: a\r\nHTTP2-Settings: a\r\nX-T: u\r\n\r\n',
  );
  const { port } = await startProxyTo(backend.port);
  expect((await send(port, '/')).trailers).toEqual({ 'x-t': 'u' });
  expect(Object.entries((await request(openHttp2(port))).trailers)).toEqual([['x-t', 'u']]);
});

test('205 has no content, whatever the backend sends', async () => {
  const backend = await startCanned('HTTP/1.1 205 A\r\nContent-Length: 5\r\n\r\nhello');
  const { port } = await startProxyTo(backend.port);
  expect(await sendRaw(port, ask)).toMatch(
    /^HTTP\/1\.1 205 (?:(?!content-length)[^])*content-length: 0\r\n(?:(?!content-length)[^])*\r\n\r\n$/i,
  );
  const { status, headers, body, code } = await request(openHttp2(port));
  expect([status, headers['content-length'], body, code]).toEqual([205, undefined, '', 0]);
});

/** A backend that sends interim responses as fast as they are taken. */
async function startEndless(): Promise<Backend & { readonly sent: () => number }> {
  let sent = 0;
  const line = `HTTP/1.1 103 A\r\nLink: ${'a'.repeat(1_000)}\r\n\r\n`;
  const backend = await startRawBackend((socket) => {
    const pump = (): void => {
      while (!socket.destroyed && socket.write(line)) sent += 1;
    };
    socket.once('data', pump).on('drain', pump);
  });
  return { ...backend, sent: () => sent };
}

describe('interim responses without end', () => {
  test('end the exchange with 502, in both versions', async () => {
    const backend = await startEndless();
    const { port, proxy } = await startProxyTo(backend.port);
    expect(await sendRaw(port, ask)).toMatch(/HTTP\/1\.1 502 [^]*$/);
    expect((await request(openHttp2(port))).status).toBe(502);
    expect(proxy.counters().limitsReached['interim-responses']).toBe(2);
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });

  test('and do so where the client does not read', async () => {
    const backend = await startEndless();
    const { port, proxy } = await startProxyTo(backend.port);
    const client = openRaw(port);
    client.pause();
    client.write(ask);
    await eventually(() => expect(proxy.counters().limitsReached['interim-responses']).toBe(1));
    await eventually(() => expect(backend.openConnections()).toBe(0));
    client.destroy();
  });

  test('of the status 100 count too', async () => {
    const backend = await startCanned('HTTP/1.1 100 A\r\n\r\n'.repeat(100));
    const { port } = await startProxyTo(backend.port);
    expect(await sendRaw(port, ask)).toMatch(/^HTTP\/1\.1 502 /);
  });

  test('of a backend in HTTP/2', async () => {
    const backend = await startHttp2Backend((stream) => {
      for (let count = 0; count < 100; count += 1) stream.additionalHeaders({ ':status': 103, link: 'a' });
      stream.respond({ ':status': 200 });
      stream.end();
    });
    const { port } = await startProxyToHttp2(backend.port);
    expect((await request(openHttp2(port))).status).toBe(502);
    expect(await sendRaw(port, ask)).toMatch(/HTTP\/1\.1 502 /);
  });

  test('a few are passed on', async () => {
    const { port } = await startProxyTo(
      (
        await startCanned(
          `${'HTTP/1.1 103 A\r\nLink: b\r\n\r\n'.repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
        )
      ).port,
    );
    expect((await request(openHttp2(port))).interim).toEqual([103, 103, 103]);
  });
});

describe('responses that nobody asked for', () => {
  /** Answers each request with what it asked for, and then what `extra` does. */
  function startTalkative(extra: (socket: Socket) => void): Promise<Backend> {
    return startRawBackend((socket) => {
      socket
        .on('end', () => socket.end())
        .on('data', (bytes) => {
          const path = /^GET (?<path>\S+) /.exec(bytes.toString('latin1'))?.groups?.['path'] ?? '';
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
          extra(socket);
        });
    });
  }

  const stray = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray';

  test.each<[string, (socket: Socket) => void]>([
    ['at once', (socket) => socket.write(stray)],
    ['a moment later', (socket) => void setImmediate(() => socket.write(stray))],
  ])('%s reach no other client, and close the connection', async (_name, extra) => {
    const backend = await startTalkative(extra);
    const { port } = await startProxyTo(backend.port);
    for (let count = 0; count < 5; count += 1) {
      expect((await send(port, `/${count}`)).body).toBe(`/${count}`);
      await eventually(() => expect(backend.openConnections()).toBe(0));
    }
  });
});

describe('an error that nobody foresaw', () => {
  const target = (service: string): RouteBackend => backendOf(service);

  test('ends its exchange, is told, and leaves others alone', async () => {
    const faults: unknown[] = [];
    const backend = await startCanned('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1');
    let breaks = true;
    const forwarder = {
      forward: () => ({ abort: () => undefined, pause: () => undefined, resume: () => undefined }),
      release: () => undefined,
      close: () => Promise.resolve(),
    };
    const broken = await startProxy(
      [endpointsConfig('app', backend.port), routeTo('app', { backends: [target('app')] })],
      {
        onFault: (error) => faults.push(error),
        forwarder: {
          ...forwarder,
          forward: (_request, receiver) => {
            if (breaks) throw new Error('no foresight');
            queueMicrotask(() => receiver.onFailure('reset'));
            return forwarder.forward();
          },
        },
      },
    );
    expect((await send(broken.port, '/')).status).toBe(502);
    expect((await request(openHttp2(broken.port))).status).toBe(502);
    expect(faults).toHaveLength(2);
    breaks = false;
    expect((await send(broken.port, '/')).status).toBe(502);
    expect(faults).toHaveLength(2);
    expect(broken.proxy.counters().openRequests).toBe(0);
  });
});

test('a client that has got the head of a response gets no second one', async () => {
  const backend = await startRawBackend((socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n'),
    );
  });
  const { port } = await startProxyTo(backend.port);
  const client = openRaw(port);
  const answer = receiveUntil(client, 'nothing that comes').catch(String);
  client.write(ask);
  expect(await answer).not.toMatch(/0\\r\\n\\r\\n|502/);
  const { code } = await request(openHttp2(port));
  expect(code).not.toBe(0);
});
