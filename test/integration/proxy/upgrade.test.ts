import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startCanned, startRawBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2 } from '../../support/http2.ts';
import {
  closeProxies,
  openRaw,
  receiveUntil,
  routeTo,
  sendRaw,
  startProxy,
  startProxyTo,
} from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const ask =
  'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

interface Switching extends Backend {
  /** The connections that were switched, in order. */
  readonly switched: Socket[];
  readonly heads: string[];
}

/** A backend that switches every connection whose request asks for it, and sends back what comes then. */
async function startSwitching(): Promise<Switching> {
  const switched: Socket[] = [];
  const heads: string[] = [];
  const backend = await startRawBackend((socket) => {
    socket.once('data', (bytes) => {
      const end = bytes.indexOf('\r\n\r\n') + 4;
      const head = bytes.subarray(0, end).toString();
      heads.push(head);
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\nX-Backend: 1\r\n\r\nhello`,
      );
      if (bytes.length > end) socket.write(bytes.subarray(end));
      socket.on('data', (data) => socket.write(data));
      switched.push(socket);
    });
  });
  return { ...backend, switched, heads };
}

/** A tunnel that has been opened: the client's socket. */
async function openTunnel(port: number): Promise<Socket> {
  const socket = openRaw(port);
  socket.allowHalfOpen = true;
  const greeting = receiveUntil(socket, 'hello');
  socket.write(ask);
  await greeting;
  return socket;
}

describe('a switch of protocols', () => {
  test('is asked for and granted end to end', async () => {
    const backend = await startSwitching();
    const { port, log, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    // The client does not wait for leave before it sends.
    const answer = receiveUntil(socket, 'early');
    socket.write(`${ask}early`);
    expect(await answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(await answer).toMatch(/\r\nconnection: upgrade\r\nupgrade: websocket\r\n/i);
    expect(await answer).toMatch(/\r\nvia: 1\.1 sallyport\r\n/i);
    expect(await answer).toMatch(/\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
    expect(backend.heads[0]).toMatch(/^GET \/chat HTTP\/1\.1\r\n/);
    expect(backend.heads[0]).toMatch(/\r\nconnection: upgrade\r\n/i);
    expect(backend.heads[0]).toMatch(/\r\nupgrade: websocket\r\n/i);
    expect(backend.heads[0]).toMatch(/\r\nx-forwarded-for: 127\.0\.0\.1\r\n/i);
    const echoed = receiveUntil(socket, 'GET /smuggled');
    socket.write('GET /smuggled');
    await echoed;
    socket.end();
    backend.switched[0]?.end();
    await once(socket, 'close');
    await eventually(() =>
      expect(log).toEqual([
        expect.objectContaining({ status: 101, path: '/chat', bytes: 'helloearlyGET /smuggled'.length }),
      ]),
    );
    expect(log[0]).not.toHaveProperty('reason');
    expect(proxy.counters()).toMatchObject({ requests: 1, openRequests: 0, openConnections: 0 });
  });

  test('what the client sends before the switch waits, as much as it may be', async () => {
    const heads = Promise.withResolvers<Socket>();
    const received: Buffer[] = [];
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => {
        socket.on('data', (data) => received.push(data));
        heads.resolve(socket);
      });
    });
    const { port, proxy } = await startProxyTo(backend.port, { aheadBytes: 64 });
    const socket = openRaw(port);
    const early = 'early'.repeat(400_000);
    socket.write(`${ask}${early}`);
    await eventually(() => expect(proxy.counters().limitsReached.pipelined).toBe(1));
    (await heads.promise).write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    );
    await eventually(() => expect(Buffer.concat(received).length).toBe(early.length));
    expect(Buffer.concat(received).toString()).toBe(early);
  });

  test('is refused if the backend does not answer, and the client has sent much in the meantime', async () => {
    const backend = await startRawBackend((socket) => void socket.resume());
    const { port, log, proxy } = await startProxyTo(backend.port, { aheadBytes: 64, aheadTimeout: 20 });
    const socket = openRaw(port);
    const answer = receiveUntil(socket, '\r\n\r\n');
    const closed = once(socket, 'close');
    socket.write(`${ask}${'early'.repeat(100)}`);
    expect(await answer).toMatch(/^HTTP\/1\.1 503 /);
    await closed;
    expect(log).toMatchObject([{ status: 503, reason: 'overloaded' }]);
    expect(proxy.counters().limitsReached['pipelined-time']).toBe(1);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });

  test('each side may end while the other goes on', async () => {
    const backend = await startSwitching();
    const { port } = await startProxyTo(backend.port);
    const one = await openTunnel(port);
    const ended = once(backend.switched[0] as Socket, 'end');
    one.end();
    await ended;
    const late = receiveUntil(one, 'late');
    backend.switched[0]?.end('late');
    expect(await late).toBe('late');

    const two = await openTunnel(port);
    const over = once(two.resume(), 'end');
    backend.switched[1]?.end();
    await over;
    const received = receiveUntil(backend.switched[1] as Socket, 'late');
    two.end('late');
    expect(await received).toBe('late');
  });

  test.each([
    ['client', (client: Socket) => client.resetAndDestroy()],
    ['backend', (_client: Socket, backend: Socket) => backend.resetAndDestroy()],
  ])('a %s that breaks off takes the other along', async (_name, breakOff) => {
    const backend = await startSwitching();
    const { port, proxy } = await startProxyTo(backend.port);
    const client = await openTunnel(port);
    const [switched] = backend.switched;
    const closed = Promise.all(
      [client.resume(), switched as Socket].map(
        (socket) =>
          new Promise((resolve) => {
            socket.once('close', resolve);
          }),
      ),
    );
    breakOff(client, switched as Socket);
    await closed;
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });

  test('a client that resets behind its end takes a backend along that goes on sending', async () => {
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
        const sending = setInterval(() => socket.write('more'), 5);
        socket.once('close', () => clearInterval(sending));
      });
    });
    const { port, proxy } = await startProxyTo(backend.port);
    const client = await openTunnel(port);
    client.resume().end();
    // Node cannot reset a socket before its end is out.
    await eventually(() => expect(client.writableFinished).toBe(true));
    client.resetAndDestroy();
    await eventually(() => expect(backend.openConnections()).toBe(0));
    expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 });
  });

  test('no timeout cuts what is established', async () => {
    const backend = await startSwitching();
    const resources = [
      endpointsConfig('app', backend.port),
      routeTo('app', { requestTimeout: 400, backendRequestTimeout: 400 }),
    ];
    const { port } = await startProxy(resources, {
      limits: { idleTimeout: 20, headerTimeout: 20, checkInterval: 10, stallTimeout: 20 },
    });
    const client = await openTunnel(port);
    await new Promise((resolve) => {
      setTimeout(resolve, 600);
    });
    const echoed = receiveUntil(client, 'still there');
    client.write('still there');
    expect(await echoed).toBe('still there');
    client.destroy();
  });

  test('before it is established timeouts hold', async () => {
    const backend = await startRawBackend((socket) => socket.resume());
    const { port } = await startProxy([endpointsConfig('app', backend.port), routeTo('app', { requestTimeout: 40 })]);
    expect(await sendRaw(port, ask)).toMatch(/^HTTP\/1\.1 504 /);
  });

  test('a slow side holds the other back', async () => {
    const backend = await startSwitching();
    const { port } = await startProxyTo(backend.port);
    const client = await openTunnel(port);
    client.pause();
    const chunk = Buffer.alloc(1024 * 1024);
    let written = 0;
    const pump = (): void => {
      written += 1;
      if (written < 64 && backend.switched[0]?.write(chunk) === true) pump();
    };
    backend.switched[0]?.on('drain', pump);
    pump();
    let last = -1;
    while (last !== written) {
      last = written;
      await new Promise((resolve) => {
        setTimeout(resolve, 150);
      });
    }
    expect(written).toBeLessThan(48);
    client.destroy();
  });

  test('the time of grace is for tunnels too', async () => {
    const backend = await startSwitching();
    const { port, proxy } = await startProxyTo(backend.port);
    const client = await openTunnel(port);
    const closed = proxy.close({ graceMs: 60_000 });
    const echoed = receiveUntil(client, 'still there');
    client.write('still there');
    expect(await echoed).toBe('still there');
    client.end();
    backend.switched[0]?.end();
    await closed;
    expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 });
  });
});

describe('a switch that does not happen', () => {
  test('an answer of the backend instead passes, and ends the connection', async () => {
    const { port, log } = await startProxyTo(
      (await startCanned('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Why: 1\r\n\r\nno')).port,
    );
    const answer = await sendRaw(port, `${ask}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*x-why: 1\r\n[^]*connection: close\r\n[^]*\r\n\r\nno$/i);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 403 })]));
    expect(log[0]).not.toHaveProperty('reason');
  });

  test('a switch that nobody asked for is no answer', async () => {
    const { port } = await startProxyTo(
      (await startCanned('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')).port,
    );
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 /);
  });

  test.each([
    ['h2c', 'Upgrade: h2c'],
    ['a list', 'Upgrade: websocket, h2c'],
    ['TLS', 'Upgrade: TLS/1.0'],
    ['HTTP', 'Upgrade: HTTP/2.0'],
    ['a body', 'Upgrade: websocket\r\nContent-Length: 4'],
  ])('%s is not asked for', async (_name, fields) => {
    const backend = await startBackend((incoming, response) =>
      incoming.resume().on('end', () => response.end(`plain ${incoming.headers.upgrade ?? ''}.`)),
    );
    const { port } = await startProxyTo(backend.port);
    expect(await sendRaw(port, `POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${fields}\r\n\r\nbody`)).toMatch(
      /^HTTP\/1\.1 200 [^]*plain \./,
    );
  });

  test('what Connection does not name is not asked for', async () => {
    const backend = await startBackend((incoming, response) =>
      response.end(`plain ${incoming.headers.upgrade ?? ''}.`),
    );
    const { port } = await startProxyTo(backend.port);
    expect(
      await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUpgrade: websocket\r\n\r\n'),
    ).toContain('plain .');
  });
});

test('a switch that is asked for behind another request happens when that one is answered', async () => {
  const backend = await startRawBackend((socket) => {
    socket.on('data', (bytes: Buffer) => {
      const text = bytes.toString();
      if (text.startsWith('GET /1')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none');
      else if (text.startsWith('GET /chat'))
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
      else socket.end(bytes);
    });
  });
  const { port } = await startProxyTo(backend.port);
  const answer = await sendRaw(port, `GET /1 HTTP/1.1\r\nHost: a\r\n\r\n${ask}ping`);
  expect(answer).toMatch(/one[^]*HTTP\/1\.1 101 [^]*\r\n\r\nhelloping$/);
});

describe('WebSocket over HTTP/2', () => {
  const extended = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'http',
    ':path': '/chat',
    ':authority': 'a',
    'sec-websocket-version': '13',
  };

  test('becomes a switch of protocols', async () => {
    const backend = await startSwitching();
    const { port, log } = await startProxyTo(backend.port);
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    const stream = session.request(extended, { endStream: false });
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head).toMatchObject({ ':status': 200, 'x-backend': '1' });
    expect(head).not.toHaveProperty('sec-websocket-accept');
    expect(backend.heads[0]).toMatch(/^GET \/chat HTTP\/1\.1\r\n[^]*\r\nsec-websocket-key: \S{22}==\r\n/i);
    let received = '';
    stream.on('data', (data: Buffer) => (received += data.toString()));
    stream.write('ping');
    await eventually(() => expect(received).toBe('helloping'));
    const ended = once(backend.switched[0] as Socket, 'end');
    stream.end();
    await ended;
    backend.switched[0]?.end('bye');
    await once(stream, 'end');
    expect(received).toBe('hellopingbye');
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 200, path: '/chat' })]));
  });

  test('goes on towards the backend after the backend has ended', async () => {
    const backend = await startSwitching();
    const { port, proxy } = await startProxyTo(backend.port);
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    const stream = session.request(extended, { endStream: false }).resume();
    await once(stream, 'response');
    // It would answer.
    backend.switched[0]?.removeAllListeners('data').end();
    await once(stream, 'end');
    let received = '';
    backend.switched[0]?.on('data', (data: Buffer) => (received += data.toString()));
    stream.write('late');
    await eventually(() => expect(received).toBe('late'));
    const closed = once(stream, 'close');
    stream.end('last');
    await eventually(() => expect(received).toBe('latelast'));
    await closed;
    expect(stream.rstCode).toBe(0);
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
  });

  test('a request that has ended opens a tunnel that the client has ended', async () => {
    const backend = await startSwitching();
    const { port, proxy } = await startProxyTo(backend.port);
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    const stream = session.request(extended, { endStream: true }).resume();
    await once(stream, 'response');
    await eventually(() => expect(backend.switched[0]?.readableEnded).toBe(true));
    backend.switched[0]?.end();
    await once(stream, 'close');
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
  });

  test('a refusal passes', async () => {
    const { port } = await startProxyTo(
      (await startCanned('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')).port,
    );
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    expect(await answerOf(session.request(extended, { endStream: false }))).toMatchObject({ status: 403, body: 'no' });
  });

  test('a client that resets its stream takes the backend along', async () => {
    const backend = await startSwitching();
    const { port, proxy } = await startProxyTo(backend.port);
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    const stream = session.request(extended, { endStream: false });
    stream.on('error', () => undefined);
    await once(stream, 'data');
    stream.close(8);
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
    // Only a connection that is gone refuses what is sent on it.
    await eventually(() => {
      backend.switched[0]?.write('still there?');
      expect(backend.switched[0]?.destroyed).toBe(true);
    });
  });

  test('other protocols are refused', async () => {
    const { port } = await startProxy([]);
    const session = openHttp2(port);
    await once(session, 'remoteSettings');
    expect(
      await answerOf(session.request({ ...extended, ':protocol': 'connect-udp' }, { endStream: false })),
    ).toMatchObject({ status: 501 });
  });
});
