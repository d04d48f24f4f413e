import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteRule } from '../../../src/core/routing/config.ts';
import { closeBackends, refusingPort, startBackend, startHttp2Backend } from '../../support/backends.ts';
import type { Http2Listener } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { answerOf, closeHttp2, openHttp2, request } from '../../support/http2.ts';
import { backendOf, closeProxies, routeTo, send, startProxy } from '../../support/proxy.ts';
import { traceContexts } from '../../support/trace-context.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

const call = { ':method': 'POST', ':path': '/shop.Cart/Add', 'content-type': 'application/grpc', te: 'trailers' };

/** A proxy to a backend that speaks HTTP/2, which nothing but the content type of requests says. */
async function startService(listener: Http2Listener) {
  const backend = await startHttp2Backend(listener);
  return { backend, ...(await startProxy([endpointsConfig('app', backend.port), routeTo('app')])) };
}

describe('a gRPC call', () => {
  test('goes over HTTP/2, with its deadline; status and message come back in trailers', async () => {
    const { port, log } = await startService((stream, { 'grpc-timeout': timeout, te }) => {
      stream.resume();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': '5', 'grpc-message': 'no such cart', 'x-bin': 'AAE=' }),
      );
      stream.end(`${String(timeout)} ${String(te)}`);
    });
    const answer = await request(openHttp2(port), { ...call, 'grpc-timeout': '100m' }, 'x');
    expect(answer).toMatchObject({
      status: 200,
      body: '100m trailers',
      trailers: { 'grpc-status': '5', 'grpc-message': 'no such cart', 'x-bin': 'AAE=' },
      code: 0,
    });
    await eventually(() =>
      expect(log).toEqual([expect.objectContaining({ status: 200, grpcStatus: 5, path: '/shop.Cart/Add' })]),
    );
  });

  test.each(traceContexts)('keeps its trace context: $traceparent', async (headers) => {
    const { port } = await startService((stream, { traceparent, tracestate, baggage }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' });
      stream.end(JSON.stringify({ traceparent, tracestate, baggage }));
    });
    const { body } = await request(openHttp2(port), { ...call, ...headers }, 'x');
    expect(JSON.parse(body)).toEqual(headers);
  });

  test('an answer that is a head alone stays one', async () => {
    const { port, log } = await startService((stream) =>
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' }, { endStream: true }),
    );
    expect(await request(openHttp2(port), call, 'x')).toMatchObject({
      headOnly: true,
      headers: { 'grpc-status': '7' },
      trailers: {},
      code: 0,
    });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ grpcStatus: 7 })]));
  });

  test('streams both ways, and ends when the server says so', async () => {
    const { port } = await startService((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.on('data', (chunk: Buffer) =>
        chunk.toString() === 'stop' ? stream.end('bye') : stream.write(`<${chunk.toString()}>`),
      );
    });
    const stream = openHttp2(port).request({ ...call, ':authority': 'a' });
    const answer = answerOf(stream);
    for (const message of ['one', 'two', 'three']) {
      const echoed = once(stream, 'data');
      stream.write(message);
      expect(String((await echoed)[0])).toBe(`<${message}>`);
    }
    stream.write('stop');
    expect(await answer).toMatchObject({ body: '<one><two><three>bye', trailers: { 'grpc-status': '0' }, code: 0 });
  });

  test('a client that cancels takes the call to the backend with it', async () => {
    const code = Promise.withResolvers<number | undefined>();
    const arrived = Promise.withResolvers<void>();
    const { port } = await startService((stream) => {
      stream.on('close', () => code.resolve(stream.rstCode));
      stream.respond({ ':status': 200 });
      arrived.resolve();
    });
    const stream = openHttp2(port).request({ ...call, ':authority': 'a' });
    stream.on('error', () => undefined);
    await arrived.promise;
    stream.close(8);
    expect(await code.promise).toBe(8);
  });

  test('what is no gRPC goes to the same Service as HTTP/1.1', async () => {
    const backend = await startBackend((incoming, response) => response.end(incoming.httpVersion));
    const { port } = await startProxy([endpointsConfig('app', backend.port), routeTo('app')]);
    expect(
      await request(openHttp2(port), { ...call, 'content-type': 'application/grpc-web+proto' }, 'x'),
    ).toMatchObject({ body: '1.1' });
  });
});

describe('a call that the proxy answers itself', () => {
  test.each<[string, Partial<RouteRule>, string, string]>([
    ['no route', { matches: [] }, '12', 'No route matches this request.'],
    ['a rule that fails', { failure: 'x' }, '14', expect.any(String) as unknown as string],
    [
      'a backend that cannot be used',
      { backends: [backendOf('app', { target: { type: 'invalid', reason: 'x' } })] },
      '14',
      expect.any(String) as unknown as string,
    ],
    ['no endpoint', { backends: [backendOf('none')] }, '14', 'The backend has no ready endpoints.'],
    ['no connection', {}, '14', 'The connection to the backend failed.'],
  ])('%s', async (_name, rule, code, message) => {
    const { port, log } = await startProxy([endpointsConfig('app', await refusingPort()), routeTo('app', rule)]);
    const answer = await request(openHttp2(port), call, 'x');
    expect(answer).toMatchObject({ status: 200, headOnly: true, body: '', code: 0 });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/grpc',
      'grpc-status': code,
      'grpc-message': message,
    });
    await eventually(() =>
      expect(log).toEqual([
        expect.objectContaining({ status: 200, grpcStatus: Number(code), reason: expect.any(String) }),
      ]),
    );
  });

  test('a timeout', async () => {
    const backend = await startHttp2Backend(() => undefined);
    const { port } = await startProxy([endpointsConfig('app', backend.port), routeTo('app', { requestTimeout: 40 })]);
    expect((await request(openHttp2(port), call, 'x')).headers).toMatchObject({ 'grpc-status': '14' });
  });

  test('a backend that breaks off in the middle of the answer breaks the call off', async () => {
    const { port, log } = await startService((stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.write('half', () => setImmediate(() => stream.close(2)));
    });
    expect(await request(openHttp2(port), call, 'x')).toMatchObject({ status: 200, trailers: {}, code: 2 });
    await eventually(() => expect(log).toEqual([expect.objectContaining({ reason: 'backend-reset' })]));
    expect(log[0]).not.toHaveProperty('grpcStatus');
  });

  test('other requests are told so in HTTP', async () => {
    const { port } = await startProxy([]);
    expect(await send(port, '/', { method: 'POST', body: 'x' })).toMatchObject({ status: 404 });
  });
});
