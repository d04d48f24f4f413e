import { request as startRequest } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeBackends,
  refusingPort,
  startBackend,
  startHttp2Backend,
  startRawBackend,
} from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2 } from '../../support/http2.ts';
import { closeProxies, openRaw, receiveUntil, routeTo, startProxy, startProxyTo } from '../../support/proxy.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

interface Seen {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: NodeJS.Dict<string>;
}

/** A backend that answers with what it saw of a request, trailers among it. */
function startSeeing() {
  return startBackend((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () =>
      response.end(JSON.stringify({ headers: incoming.headers, body, trailers: incoming.trailers } satisfies Seen)),
    );
  });
}

/** Sends a request in chunks with a trailer, and takes the answer. */
function sendWithTrailer(
  port: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const message = startRequest({
    host: '127.0.0.1',
    port,
    method: 'POST',
    agent: false,
    headers: { trailer: 'X-Sum', 'transfer-encoding': 'chunked', ...headers },
  });
  message.on('error', reject).on('response', (response) => {
    let body = '';
    response.on('data', (chunk: Buffer) => (body += chunk.toString())).on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
  });
  message.write('body');
  message.addTrailers({ 'X-Sum': '1', Host: 'b' });
  message.end();
  return promise;
}

describe('trailers of a request', () => {
  test('go on where they are announced, but for those that would speak of framing or routing', async () => {
    const { port } = await startProxyTo((await startSeeing()).port);
    const { body } = await sendWithTrailer(port);
    const seen = JSON.parse(body) as Seen;
    expect(seen).toMatchObject({ body: 'body', trailers: { 'x-sum': '1' }, headers: { trailer: 'X-Sum' } });
    expect(seen.trailers).not.toHaveProperty('host');
  });

  test('from HTTP/1.1 to HTTP/2', async () => {
    const received = Promise.withResolvers<unknown>();
    const backend = await startHttp2Backend((stream) => {
      stream.on('trailers', received.resolve).resume();
      stream.respond({ ':status': 200 }, { endStream: true });
    });
    const { port } = await startProxy([{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')]);
    expect(await sendWithTrailer(port)).toMatchObject({ status: 200 });
    expect(await received.promise).toMatchObject({ 'x-sum': '1' });
  });

  test('from HTTP/2 to HTTP/1.1', async () => {
    const { port } = await startProxyTo((await startSeeing()).port);
    const stream = openHttp2(port).request(
      { ':authority': 'a', ':path': '/', ':method': 'POST', trailer: 'x-sum' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
    stream.end('body');
    const { body } = await answerOf(stream);
    expect(JSON.parse(body)).toMatchObject({ body: 'body', trailers: { 'x-sum': '1' } });
  });

  test('are not announced behind a body with a length', async () => {
    const { port } = await startProxyTo((await startSeeing()).port);
    const socket = openRaw(port);
    const answer = receiveUntil(socket, '"body":"abc"');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nContent-Length: 3\r\n\r\nabc');
    expect(await answer).not.toContain('X-Sum');
    socket.destroy();
  });
});

describe('a request with trailers is carried like others', () => {
  test('another endpoint is tried', async () => {
    const { port } = await startProxy([
      endpointsConfig('app', await refusingPort(), (await startSeeing()).port),
      routeTo('app'),
    ]);
    const { body } = await sendWithTrailer(port);
    expect(JSON.parse(body)).toMatchObject({ body: 'body', trailers: { 'x-sum': '1' } });
  });

  test.each([
    ['breaks off', '', 502, 'backend-reset'],
    ['speaks no HTTP', 'nonsense\r\n\r\n', 502, 'backend-protocol'],
  ])('a backend that %s', async (_name, answer, status, reason) => {
    const backend = await startRawBackend((socket) => socket.once('data', () => socket.end(answer)));
    const { port, log } = await startProxyTo(backend.port);
    expect(await sendWithTrailer(port)).toMatchObject({ status });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ reason })]));
  });

  test('an answer that breaks off is never taken for a whole one', async () => {
    const backend = await startBackend((incoming, response: ServerResponse) => {
      incoming.resume();
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.socket?.destroy());
    });
    const { port } = await startProxyTo(backend.port);
    await expect(sendWithTrailer(port)).rejects.toThrow('aborted');
  });

  test('a client that leaves takes it along', async () => {
    const gone = Promise.withResolvers<void>();
    const backend = await startRawBackend(
      (socket) =>
        void socket
          .on('end', () => socket.destroy())
          .on('close', () => gone.resolve())
          .resume(),
    );
    const { port, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n');
    await eventually(() => expect(backend.connections()).toBe(1));
    socket.destroy();
    await gone.promise;
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
  });
});
