import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startCanned, startRawBackend } from '../../support/backends.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, openRaw, receiveUntil, send, sendRaw, startProxy, startProxyTo } from '../../support/proxy.ts';
import { settled } from '../../support/settled.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const megabyte = 1024 * 1024;
const chunk = Buffer.alloc(64 * 1024, 'x');
// Far above what the kernel buffers on the way, so that what is sent while nobody reads shows who else buffers.
const big = 96 * megabyte;
const bounded = 48 * megabyte;
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('back-pressure', () => {
  test('a client that does not read holds the backend back, and gets everything in the end', async () => {
    let written = 0;
    const backend = await startBackend((_request, response) => {
      const pump = (): void => {
        while (written < big) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', pump);
            return;
          }
        }
        response.end();
      };
      response.writeHead(200, { 'content-length': big });
      pump();
    });
    const { port } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    const head = once(socket, 'data');
    socket.write(get);
    const [first] = (await head) as [Buffer];
    socket.pause();
    expect(await settled(() => written)).toBeLessThan(bounded);
    let received = first.length;
    const everything = Promise.withResolvers<void>();
    const headLength = first.indexOf('\r\n\r\n') + 4;
    socket.on('data', (data: Buffer) => {
      received += data.length;
      if (received - headLength === big) everything.resolve();
    });
    socket.resume();
    await everything.promise;
    socket.destroy();
  });

  test('a backend that does not read holds the client back, and gets everything in the end', async () => {
    const began = Promise.withResolvers<() => void>();
    const backend = await startBackend((request, response) => {
      let received = 0;
      request.once('readable', () =>
        began.resolve(() => request.on('data', (data: Buffer) => (received += data.length))),
      );
      request.on('end', () => response.end(String(received)));
    });
    const { port } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    let written = 0;
    const pump = (): void => {
      while (written < big) {
        written += chunk.length;
        if (!socket.write(chunk)) {
          socket.once('drain', pump);
          return;
        }
      }
    };
    const answer = receiveUntil(socket, `\r\n\r\n${big}`);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${big}\r\n\r\n`);
    pump();
    const readOn = await began.promise;
    expect(await settled(() => written)).toBeLessThan(bounded);
    readOn();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });

  test('small chunks that arrive together reach the backend as one', async () => {
    let received = '';
    const backend = await startRawBackend((socket) =>
      socket.on('data', (data: Buffer) => {
        received += data.toString('latin1');
        if (received.endsWith('0\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }),
    );
    const { port } = await startProxyTo(backend.port);
    const chunks = '1\r\nx\r\n'.repeat(10_000);
    const answer = await sendRaw(
      port,
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    const body = received.slice(received.indexOf('\r\n\r\n') + 4);
    expect(body.replaceAll(/[^x]/g, '')).toHaveLength(10_000);
    // Single bytes in chunks would take 60,000.
    expect(body.length).toBeLessThan(11_000);
  });

  test('both directions flow at the same time', async () => {
    const backend = await startBackend((request, response) => {
      response.writeHead(200);
      request.pipe(response);
    });
    const { port } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    const first = receiveUntil(socket, 'ping');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nping\r\n');
    expect(await first).toMatch(/^HTTP\/1\.1 200 OK/);
    const second = receiveUntil(socket, 'pong');
    socket.write('4\r\npong\r\n');
    await second;
    const end = receiveUntil(socket, '0\r\n\r\n');
    socket.write('0\r\n\r\n');
    expect(await end).not.toContain('HTTP');
    socket.destroy();
  });
});

test('an answer that waits for its client stays as it is while others are read', async () => {
  const length = 32 * megabyte;
  const waiting = Promise.withResolvers<() => number>();
  const backend = await startBackend((request, response) => {
    if (request.url === '/a') waiting.resolve(() => request.socket.bytesWritten);
    response.end(Buffer.alloc(request.url === '/a' ? length : megabyte, request.url?.slice(1)));
  });
  const { port } = await startProxyTo(backend.port);
  const socket = openRaw(port);
  const begun = once(socket, 'data');
  socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
  const [first] = (await begun) as [Buffer];
  socket.pause();
  await settled(await waiting.promise);
  expect((await send(port, '/b')).body).toBe('b'.repeat(megabyte));
  const whole = Promise.withResolvers<void>();
  let received = 0;
  let isIntact = true;
  const take = (piece: Buffer): void => {
    received += piece.length;
    isIntact &&= piece.equals(Buffer.alloc(piece.length, 'a'));
    if (received === length) whole.resolve();
  };
  take(first.subarray(first.indexOf('\r\n\r\n') + 4));
  socket.on('data', take);
  socket.resume();
  await whole.promise;
  socket.destroy();
  expect(isIntact).toBe(true);
});

describe('a client that leaves takes the request to the backend with it', () => {
  test.each([
    ['before the answer', get, ''],
    ['in the middle of the answer', get, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['in the middle of its body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf', ''],
  ])('%s', async (_name, bytes, answer) => {
    const arrived = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const backend = await startRawBackend((socket) => {
      socket
        .on('data', () => arrived.resolve())
        .on('close', () => gone.resolve())
        .on('end', () => socket.destroy());
      socket.write(answer);
    });
    const { port, log, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    const head = answer === '' ? arrived.promise : receiveUntil(socket, 'half');
    socket.write(bytes);
    await Promise.all([head, arrived.promise]);
    socket.destroy();
    await gone.promise;
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ reason: 'client-aborted', status: answer === '' ? 499 : 200 })]),
    );
    expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 });
  });
});

describe('an answer that breaks off is never taken for a whole one', () => {
  test.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['in chunks, after a bad one', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n'],
  ])('%s', async (_name, answer) => {
    const { port, log } = await startProxyTo((await startCanned(answer)).port);
    await expect(send(port, '/')).rejects.toThrow('aborted');
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ status: 200, reason: expect.stringMatching(/^backend-/) })]),
    );
  });

  test('not by HTTP/1.0 either, where the end of the connection would be the end of the answer', async () => {
    const { port } = await startProxyTo(
      (await startCanned('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')).port,
    );
    const socket = openRaw(port);
    const failed = once(socket, 'error').catch((error: unknown) => [error]);
    socket.resume().write('GET / HTTP/1.0\r\n\r\n');
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('an answer before the end of the request body', () => {
  test('of the backend reaches a client that is still sending', async () => {
    const backend = await startRawBackend((socket) => {
      socket.once('data', () => socket.pause().end('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'));
    });
    const { port } = await startProxyTo(backend.port);
    expect(await uploadAll(port)).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*\r\n\r\nbig$/i);
  });

  test('of the proxy does too', async () => {
    const { port } = await startProxy([]);
    expect(await uploadAll(port)).toMatch(/^HTTP\/1\.1 404 [^]*connection: close/i);
  });

  test('keeps the connection where the rest is small', async () => {
    const { port } = await startProxy([]);
    const answer = await sendRaw(
      port,
      `POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody${get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`,
    );
    expect(answer.match(/HTTP\/1\.1 404/g)).toHaveLength(2);
  });

  /** Sends 4 MiB without looking at what comes back, then reads that to its end. */
  async function uploadAll(port: number): Promise<string> {
    const socket = openRaw(port);
    const chunks: Buffer[] = [];
    socket.on('data', (data: Buffer) => chunks.push(data));
    const closed = once(socket, 'close');
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * megabyte}\r\n\r\n`);
    for (let sent = 0; sent < 4 * megabyte && socket.writable; sent += chunk.length) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed]);
    }
    await closed;
    return Buffer.concat(chunks).toString();
  }
});
