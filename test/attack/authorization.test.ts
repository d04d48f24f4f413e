import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { delimitedField } from '../../src/proxy/handling/authorization/protobuf.ts';
import { authorizedBy, startApp, startAuthorized, startSilent } from '../support/authorization.ts';
import { closeBackends, startEcho, startHttp2Backend } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { frame, literal, preface } from '../support/http2.ts';
import { closeProxies, echoed, fieldValues, send } from '../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const grpc = { filters: [authorizedBy('auth', { protocol: 'grpc' })] };

/** A server that permits every call with these parts of an OkHttpResponse. */
function startPermitting(parts: readonly Buffer[]) {
  const message = Buffer.concat([delimitedField(1, ''), delimitedField(3, Buffer.concat(parts))]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return startHttp2Backend((stream) => {
    stream.resume().on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.concat([prefix, message]));
    });
  });
}

/** A header that is set. */
const header = (name: string, value: string): Buffer =>
  delimitedField(2, delimitedField(1, Buffer.concat([delimitedField(1, name), delimitedField(2, value)])));

describe('an authorization server', () => {
  // Comparing each header with all others took 16 seconds.
  test.each([1, 800])(
    'that sets %i headers does not block the data plane, and the last one of a name counts',
    async (count) => {
      const headers = Array.from({ length: count }, (_, index) => header(index.toString(36), ''));
      const auth = await startPermitting([header('x-user', 'eve'), ...headers, header('x-user', 'ann')]);
      const app = await startEcho('app');
      const { port } = await startAuthorized(app.port, auth.port, grpc);
      expect(fieldValues(await echoed(port, '/'), 'x-user')).toEqual(['ann']);
    },
  );

  // Each request kept all of them until its end: 126 requests took the memory of a pod.
  test.each([
    ['sets', header],
    ['adds to the response', (name: string) => delimitedField(6, delimitedField(1, delimitedField(1, name)))],
    ['removes', (name: string) => delimitedField(5, name)],
  ])('that %s more headers than a header section may have is refused', async (_what, part) => {
    const parts = Array.from({ length: 12_000 }, (_, index) => part(`a${index.toString(36)}`, ''));
    const [auth, app] = [await startPermitting(parts), await startApp()];
    const { port, proxy, log } = await startAuthorized(app.port, auth.port, grpc);
    expect((await send(port, '/')).status).toBe(502);
    expect(app.reached).toEqual([]);
    await eventually(() => expect(log).toMatchObject([{ reason: 'authorization-failed' }]));
    expect(proxy.counters().limitsReached['authorization-answer']).toBe(1);
  });

  test('whose headers wait with their requests for a slow backend takes no more than its share of the memory', async () => {
    const headers = Array.from({ length: 500 }, (_, index) => header(`a${index.toString(36)}`, ''));
    const [auth, app] = [await startPermitting(headers), await startSilent()];
    const { port, proxy } = await startAuthorized(app.port, auth.port, {
      ...grpc,
      options: { limits: { authorizationBytes: 1024 * 1024 } },
    });
    const sent = Array.from({ length: 20 }, () => send(port, '/').catch(() => undefined));
    await eventually(() => {
      const { 'authorization-bytes': all, 'client-share': share } = proxy.counters().limitsReached;
      expect(all + share).toBeGreaterThan(8);
    });
    expect((await Promise.race(sent))?.status).toBe(503);
    await closeProxies();
    await Promise.all(sent);
  });
});

describe('a client of a route with authorization', () => {
  /** Sends a body with `count` DATA frames of one byte. */
  const trickle = (port: number, count: number): (() => void) => {
    const head = literal([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
    const pieces = Buffer.concat(Array.from({ length: count }, () => frame('data', 0, 1, Buffer.alloc(1))));
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.resume().write(Buffer.concat([preface, frame('headers', 4, 1, head), pieces]));
    return () => socket.destroy();
  };

  // A piece takes hundreds of bytes besides its content. Only the content counted, so 8 MB on the wire took more than 512 MiB.
  test('that sends its body in single bytes gets no more memory than others', async () => {
    const [auth, app] = [await startSilent(), await startApp()];
    const { port, proxy } = await startAuthorized(app.port, auth.port, {
      filters: [authorizedBy('auth', { maxBody: 60_000 })],
      options: { limits: { authorizationBytes: 256 * 1024 } },
    });
    const close = trickle(port, 5_000);
    await eventually(() => {
      const { 'authorization-bytes': all, 'client-share': share } = proxy.counters().limitsReached;
      expect(all + share).toBe(1);
    });
    expect(proxy.counters().requestBytes).toBeLessThanOrEqual((256 * 1024) / 512);
    close();
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
    // Everything was released.
    expect(proxy.counters().authorizations).toMatchObject({ failed: 1 });
  });

  test('gets no unlimited number of messages for a server that does not answer', async () => {
    const [auth, app] = [await startSilentGrpc(), await startApp()];
    const { port, proxy } = await startAuthorized(app.port, auth.port, {
      ...grpc,
      options: { limits: { authorizationBytes: 64 * 1024 } },
    });
    const headers = { 'x-large': 'v'.repeat(8_000) };
    const sent = Array.from({ length: 12 }, () => send(port, '/', { headers }).catch(() => undefined));
    await eventually(() => {
      const { 'authorization-bytes': all, 'client-share': share } = proxy.counters().limitsReached;
      expect(all + share).toBeGreaterThan(4);
    });
    expect((await Promise.race(sent))?.status).toBe(503);
    await closeProxies();
    await Promise.all(sent);
  });
});

/** A server that reads calls and never answers. */
function startSilentGrpc() {
  return startHttp2Backend((stream) => stream.on('error', () => undefined).resume());
}
