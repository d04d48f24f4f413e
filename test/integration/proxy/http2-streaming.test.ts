import { once } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';
import { closeBackends, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2, request } from '../../support/http2.ts';
import { closeProxies, openRaw, routeTo, startProxy } from '../../support/proxy.ts';
import { settled } from '../../support/settled.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const megabyte = 1024 * 1024;
const chunk = Buffer.alloc(64 * 1024, 'x');
const big = 64 * megabyte;
const bounded = 16 * megabyte;

/** Writes `big` bytes as fast as they are taken; `count` is told of each chunk. */
function pump(stream: NodeJS.WritableStream, count: (bytes: number) => void): void {
  let written = 0;
  const write = (): void => {
    while (written < big) {
      written += chunk.length;
      count(chunk.length);
      if (!stream.write(chunk)) {
        stream.once('drain', write);
        return;
      }
    }
    stream.end();
  };
  write();
}

async function startProxyTo(port: number): Promise<number> {
  return (await startProxy([{ ...endpointsConfig('app', port), protocol: 'h2c' }, routeTo('app')])).port;
}

test('a client that does not read holds the backend back, and others go on; it gets everything in the end', async () => {
  let written = 0;
  const backend = await startHttp2Backend((stream, headers) => {
    // Node's server sends a reset in place of END_STREAM where no window is left and nobody has looked at the request.
    stream.resume().respond({ ':status': 200 });
    if (headers[':path'] === '/small') stream.end('ok');
    else pump(stream, (bytes) => (written += bytes));
  });
  const session = openHttp2(await startProxyTo(backend.port));
  const stream = session.request({ ':authority': 'a', ':path': '/' });
  let received = 0;
  stream.pause();
  await once(stream, 'response');
  expect(await settled(() => written)).toBeLessThan(bounded);
  expect(await request(session, { ':path': '/small' })).toMatchObject({ body: 'ok' });
  stream.on('data', (data: Buffer) => (received += data.length)).resume();
  await once(stream, 'end');
  expect(received).toBe(big);
});

test('a backend that does not read holds the client back, and gets everything in the end', async () => {
  const began = Promise.withResolvers<() => void>();
  const backend = await startHttp2Backend((stream) => {
    let received = 0;
    stream.pause();
    began.resolve(() => stream.on('data', (data: Buffer) => (received += data.length)).resume());
    stream.on('end', () => {
      stream.respond({ ':status': 200 });
      stream.end(String(received));
    });
  });
  const stream = openHttp2(await startProxyTo(backend.port)).request({
    ':authority': 'a',
    ':path': '/',
    ':method': 'POST',
  });
  let written = 0;
  const answer = answerOf(stream);
  pump(stream, (bytes) => (written += bytes));
  const readOn = await began.promise;
  expect(await settled(() => written)).toBeLessThan(bounded);
  readOn();
  expect(await answer).toMatchObject({ status: 200, body: String(big) });
});

test('the same from HTTP/1.1 to HTTP/2', async () => {
  let written = 0;
  const backend = await startHttp2Backend((stream) => {
    stream.resume().respond({ ':status': 200 });
    pump(stream, (bytes) => (written += bytes));
  });
  const socket = openRaw(await startProxyTo(backend.port));
  const head = once(socket, 'data');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await head;
  socket.pause();
  expect(await settled(() => written)).toBeLessThan(bounded * 3);
  socket.resume();
  await once(socket, 'close');
  expect(written).toBe(big);
});

test('an answer that ends before the request keeps its trailers, however slowly it is read', async () => {
  const paused = Promise.withResolvers<void>();
  let sentTrailers = 0;
  const backend = await startHttp2Backend((stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'x-sum': '1' });
      sentTrailers += 1;
    });
    // A little more than the client's window takes, in a piece that the proxy takes over whole.
    stream.write(Buffer.alloc(60_000));
    void paused.promise.then(() => stream.end(Buffer.alloc(13_500)));
  });
  const port = await startProxyTo(backend.port);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const stream = openHttp2(port).request({ ':authority': 'a', ':path': '/', ':method': 'POST' });
    stream.write('begin');
    await once(stream, 'response');
    stream.pause();
    paused.resolve();
    await eventually(() => expect(sentTrailers).toBe(1));
    await settled(() => stream.session?.socket.bytesRead ?? 0);
    // More than the proxy waits before it tells a client to stop.
    jest.advanceTimersByTime(1_500);
    const trailers = once(stream, 'trailers');
    const answer = answerOf(stream.resume());
    await trailers;
    jest.advanceTimersByTime(1_500);
    expect(await answer).toMatchObject({ trailers: { 'x-sum': '1' }, code: 0 });
  } finally {
    jest.useRealTimers();
  }
});
