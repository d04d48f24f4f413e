import type { ServerHttp2Stream } from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { authorizedBy, startApp, startAuthorized } from '../../support/authorization.ts';
import { closeBackends, startEcho, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, echoed, fieldValues, send } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const filters = [authorizedBy('auth', { protocol: 'grpc' })];

/** A message with its prefix, in hexadecimal digits. */
function framed(message: string): Buffer {
  const bytes = Buffer.from(message, 'hex');
  return Buffer.concat([Buffer.from([0, 0, 0, 0, bytes.length]), bytes]);
}

const text = (value: string): string => Buffer.from(value).toString('hex');
const part = (key: string, contents: string): string =>
  `${key}${(contents.length / 2).toString(16).padStart(2, '0')}${contents}`;
const header = (name: string, value: string): string =>
  part('12', part('0a', part('0a', text(name)) + part('12', text(value))));

const ok = '0a00';
const okHead = { ':status': 200, 'content-type': 'application/grpc' };

interface Asked {
  readonly path: string;
  readonly fields: Record<string, unknown>;
  readonly message: Buffer;
}

/** An authorization server that does what it is told with each call once it has been received. */
async function startServer(answer: (stream: ServerHttp2Stream) => void) {
  const asked: Asked[] = [];
  const { port } = await startHttp2Backend((stream, headers) => {
    const chunks: Buffer[] = [];
    stream
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        asked.push({
          path: String(headers[':path']),
          fields: { ...headers },
          message: Buffer.concat(chunks).subarray(5),
        });
        answer(stream);
      });
  });
  return { port, asked };
}

/** Answers a call with these bytes and this status of gRPC. */
function answering(body: Buffer, status = '0', head: Record<string, unknown> = okHead) {
  return (stream: ServerHttp2Stream): void => {
    stream.respond(head as Record<string, string>, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
    stream.end(body);
  };
}

describe('over gRPC', () => {
  test('a permitted request reaches the backend with the changes of the server; its response has those too', async () => {
    const changes = `${header('x-user', 'ann')}${header('X-User', 'bob')}${part('2a', text('x-drop'))}${header('content-length', '99')}${part('32', part('0a', part('0a', text('x-seen')) + part('12', text('1'))))}`;
    const [server, app] = [await startServer(answering(framed(`${ok}${part('1a', changes)}`))), await startEcho('app')];
    const { port, proxy } = await startAuthorized(app.port, server.port, { filters });
    const sent = {
      method: 'POST',
      body: 'hello',
      headers: {
        host: 'shop.example.com',
        'x-user': 'mallory',
        'x-drop': '1',
        'x-other': '2',
        authorization: 'Bearer t',
      },
    };
    const seen = await echoed(port, '/a?b=c', sent);
    expect(['x-user', 'x-drop', 'x-other', 'content-length'].map((name) => fieldValues(seen, name))).toEqual([
      ['bob'],
      [],
      ['2'],
      ['5'],
    ]);
    expect((await send(port, '/', sent)).headers).toMatchObject({ 'x-seen': '1' });
    const [{ path, fields, message } = { path: '', fields: {}, message: Buffer.alloc(0) }] = server.asked;
    expect([path, fields[':method'], fields['content-type'], fields['te'], fields[':authority']]).toEqual([
      '/envoy.service.auth.v3.Authorization/Check',
      'POST',
      'application/grpc',
      'trailers',
      'auth.shop',
    ]);
    for (const part of [
      'POST',
      '/a?b=c',
      'shop.example.com',
      'x-other',
      'Bearer t',
      'mallory',
      'HTTP/1.1',
      '127.0.0.1',
    ])
      expect(message.includes(part)).toBe(true);
    expect(message.includes('hello')).toBe(false);
    expect(proxy.counters().authorizations).toEqual({ permitted: 2, denied: 0, failed: 0 });
  });

  test.each([
    ['name and namespace of a ServiceImport', 'ServiceImport', undefined, 'auth.shop'],
    ['name and namespace of an XBackend that selects endpoints', 'XBackend', undefined, 'auth.shop'],
    ['hostname of an external XBackend', 'XBackend', 'auth.partner.example', 'auth.partner.example'],
  ])('the host is the %s', async (_what, kind, hostname, expected) => {
    const [server, app] = [await startServer(answering(framed(ok))), await startApp()];
    const inCluster = { ...endpointsConfig('auth', server.port), key: `endpoints/${kind}/shop/auth/80` };
    const external =
      hostname === undefined ? inCluster : { ...inCluster, addresses: [], external: { hostname, port: server.port } };
    const { port } = await startAuthorized(app.port, undefined, {
      filters: [authorizedBy('auth', { protocol: 'grpc', target: { type: 'endpoints', key: external.key } })],
      resources: [external],
      options: {
        internalBackendNetworks: [{ first: 0xffff_7f00_0001n, last: 0xffff_7f00_0001n }],
        lookup: {
          lookup: () => Promise.resolve({ addresses: ['127.0.0.1'], validFor: 60_000 }),
          close: () => undefined,
        },
      },
    });
    expect((await send(port, '/')).status).toBe(200);
    expect(server.asked.map(({ fields }) => fields[':authority'])).toEqual([expected]);
  });

  test('the server gets the listed headers alone, and the body where the filter says so', async () => {
    const [server, app] = [await startServer(answering(framed(ok))), await startApp()];
    const { port } = await startAuthorized(app.port, server.port, {
      filters: [authorizedBy('auth', { protocol: 'grpc', requestHeaders: ['X-A'], maxBody: 100 })],
    });
    expect(
      (await send(port, '/', { method: 'POST', body: 'hello', headers: { 'x-a': 'first', 'x-b': 'second' } })).status,
    ).toBe(200);
    expect((await send(port, '/', { method: 'POST', body: 'b'.repeat(101) })).status).toBe(413);
    expect(
      server.asked.map(({ message }) => [
        message.includes('first'),
        message.includes('second'),
        message.includes('hello'),
      ]),
    ).toEqual([[true, false, true]]);
    expect(app.reached).toHaveLength(1);
  });

  test('a denial reaches the client: status, headers, every Set-Cookie, body', async () => {
    const denial = `0a03089103${header('www-authenticate', 'Basic realm="a"')}${header('set-cookie', 'a=1')}${header('set-cookie', 'b=2')}${part('1a', text('log in: ü'))}`;
    const [server, app] = [await startServer(answering(framed(`0a020810${part('12', denial)}`))), await startApp()];
    const { port, log } = await startAuthorized(app.port, server.port, { filters });
    expect(await send(port, '/')).toMatchObject({
      status: 401,
      body: 'log in: ü',
      headers: { 'www-authenticate': 'Basic realm="a"', 'set-cookie': ['a=1', 'b=2'], 'content-length': '10' },
    });
    expect(app.reached).toEqual([]);
    await eventually(() => expect(log).toMatchObject([{ status: 401, reason: 'authorization-denied' }]));
  });

  test('a denial without a status is a 403', async () => {
    const [server, app] = [await startServer(answering(framed('0a020807'))), await startApp()];
    const { port } = await startAuthorized(app.port, server.port, { filters });
    expect(await send(port, '/')).toMatchObject({ status: 403, body: '' });
    expect(app.reached).toEqual([]);
  });

  test.each<[string, (stream: ServerHttp2Stream) => void]>([
    ['an error of gRPC', answering(framed(ok), '14')],
    ['an error without a message', (stream) => stream.respond({ ...okHead, 'grpc-status': '13' }, { endStream: true })],
    ['OK without a message', answering(Buffer.alloc(0))],
    [
      'a message without a status of gRPC',
      (stream) => {
        stream.respond(okHead);
        stream.end(framed(ok));
      },
    ],
    ['an empty message', answering(framed(''))],
    ['two messages', answering(Buffer.concat([framed(ok), framed(ok)]))],
    ['a compressed message', answering(Buffer.concat([Buffer.from([1]), framed(ok).subarray(1)]))],
    ['a cut message', answering(framed(ok).subarray(0, 6))],
    ['no protobuf', answering(framed('ffff'))],
    ['a header that HTTP cannot carry', answering(framed(`${ok}${part('1a', header('x a', '1'))}`))],
    ['a value that HTTP cannot carry', answering(framed(`${ok}${part('1a', header('x-a', 'a\r\nb'))}`))],
    ['a denial with a status that is none', answering(framed(`0a020807${part('12', '0a020863')}`))],
    ['another content type', answering(framed(ok), '0', { ':status': 200, 'content-type': 'text/plain' })],
    ['another status of HTTP', answering(framed(ok), '0', { ...okHead, ':status': 403 })],
    ['a reset', (stream) => stream.close(2)],
    [
      'a reset in the middle',
      (stream) => {
        stream.respond(okHead);
        stream.write(framed(ok), () => stream.close(2));
      },
    ],
    ['a huge message', answering(Buffer.concat([Buffer.from([0, 0, 16, 0, 0]), Buffer.alloc(1024 * 1024)]))],
  ])('%s permits nothing', async (_name, answer) => {
    const [server, app] = [await startServer(answer), await startApp()];
    const { port, log } = await startAuthorized(app.port, server.port, { filters });
    expect((await send(port, '/', { method: 'POST', body: 'x' })).status).toBe(502);
    expect(app.reached).toEqual([]);
    await eventually(() => expect(log).toMatchObject([{ reason: 'authorization-failed' }]));
  });

  test('a server that speaks HTTP/1.1 alone permits nothing', async () => {
    const [server, app] = [await startEcho('auth'), await startApp()];
    const { port } = await startAuthorized(app.port, server.port, { filters });
    expect((await send(port, '/')).status).toBeGreaterThanOrEqual(500);
    expect(app.reached).toEqual([]);
  });
});
