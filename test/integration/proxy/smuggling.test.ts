import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { closeProxies, openRaw, receiveUntil, sendRaw, startProxyTo } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const post = 'POST / HTTP/1.1\r\nHost: a\r\n';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n';
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

describe('requests whose end or target could be read in two ways are refused', () => {
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      400,
      `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'Transfer-Encoding and Content-Length',
      400,
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    ],
    ['two different lengths', 400, `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ['the same length twice', 400, `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
    ['a list of lengths', 400, `${post}Content-Length: 3, 3\r\n\r\nabc`],
    ['a length with a sign', 400, `${post}Content-Length: +3\r\n\r\nabc`],
    ['a negative length', 400, `${post}Content-Length: -3\r\n\r\nabc`],
    ['a hexadecimal length', 400, `${post}Content-Length: 0x3\r\n\r\nabc`],
    ['an empty length', 400, `${post}Content-Length: \r\n\r\nabc`],
    ['a length beyond all bounds', 400, `${post}Content-Length: 99999999999999999999999\r\n\r\nabc`],
    ['chunked not last', 400, `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['chunked twice', 400, `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['another coding', 400, `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['another coding before chunked', 501, `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a coding behind a vertical tab', 400, `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ['a blank before the colon', 400, `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['chunks in HTTP/1.0', 400, 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a folded line', 400, `${get}X-A: b\r\n c\r\n\r\n`],
    ['a folded Transfer-Encoding', 400, `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
    ['a bare line feed', 400, 'GET / HTTP/1.1\nHost: a\n\n'],
    ['a bare line feed between fields', 400, 'GET / HTTP/1.1\r\nHost: a\nX-A: b\r\n\r\n'],
    ['a bare carriage return', 400, `${get}X-A: b\rTransfer-Encoding: chunked\r\n\r\n`],
    ['a NUL', 400, `${get}X-A: b\0c\r\n\r\n`],
    ['a field without a name', 400, `${get}: b\r\n\r\n`],
    ['a line without a colon', 400, `${get}Transfer-Encoding\r\n\r\n`],
    ['blanks before the first field', 400, 'GET / HTTP/1.1\r\n X-A: b\r\nHost: a\r\n\r\n'],
    ['a chunk size that is no number', 400, `${post}Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n`],
    [
      'a chunk extension that ends in a bare line feed',
      400,
      `${post}Transfer-Encoding: chunked\r\n\r\n3;a\nabc\r\n0\r\n\r\n`,
    ],
    ['chunks without carriage returns', 400, `${post}Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n`],
    ['no Host', 400, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 400, `${get}Host: b\r\nConnection: close\r\n\r\n`],
    ['the same Host twice', 400, `${get}Host: a\r\nConnection: close\r\n\r\n`],
    ['a Host with a user', 400, 'GET / HTTP/1.1\r\nHost: u@a\r\nConnection: close\r\n\r\n'],
    ['a Host with a path', 400, 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n'],
    ['an absolute target and no Host', 400, 'GET http://a/ HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an absolute target and a bad Host', 400, 'GET http://a/ HTTP/1.1\r\nHost: b b\r\nConnection: close\r\n\r\n'],
    ['an absolute target of another scheme', 400, 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a fragment', 400, 'GET /a#b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a fragment behind the query', 400, 'GET /a?b#c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a stray percent sign', 400, 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['bytes beyond ASCII in the target', 400, 'GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a blank in the target', 400, 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an unknown version', 400, 'GET / HTTP/1.2\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9 with a version', 400, 'GET / HTTP/0.9\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/2.0 in the form of HTTP/1', 400, 'GET / HTTP/2.0\r\nHost: a\r\nConnection: close\r\n\r\n'],
    [
      'a coding before the byte A0, with an upgrade',
      400,
      `${post}Transfer-Encoding: chunked\xa0\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n0\r\n\r\n`,
    ],
    ['a Host with an empty label', 400, 'GET / HTTP/1.1\r\nHost: a..b\r\nConnection: close\r\n\r\n'],
    ['an asterisk for another method than OPTIONS', 400, 'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/0.9', 400, 'GET /\r\n\r\n'],
    ['CONNECT', 501, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
  ])('%s', async (_name, status, bytes) => {
    const { port, proxy } = await startProxyTo((await startEcho()).port);
    const answer = await sendRaw(port, `${bytes}${smuggled}`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).not.toContain('smuggled');
    // A chunk can turn out bad when the request is already on its way; nothing else may have been.
    expect(proxy.counters().responses['2xx']).toBe(0);
  });
});

test('an upgrade is not passed on, and the connection ends with the answer', async () => {
  const seen: string[] = [];
  const backend = await startBackend((request, response) => {
    request.resume().on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.upgrade ?? 'plain'}`);
      response.end('ok');
    });
  });
  const { port } = await startProxyTo(backend.port);
  const upgrade = `${post}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 3\r\n\r\nabc`;
  const answer = await sendRaw(port, `${upgrade}${smuggled}`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/connection: close/i);
  expect(seen).toEqual(['POST / plain']);
});

test('a body that breaks the chunk grammar midway breaks the request off at the backend too', async () => {
  const began = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<string>();
  const backend = await startBackend((request) => {
    request.on('error', () => broken.resolve('broken off')).on('end', () => broken.resolve('whole'));
    request.once('data', () => began.resolve());
  });
  const { port, proxy } = await startProxyTo(backend.port);
  const socket = openRaw(port);
  const answer = receiveUntil(socket, '\r\n\r\n');
  socket.write(`${post}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
  await began.promise;
  socket.write('not a size\r\n');
  expect(await broken.promise).toBe('broken off');
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(proxy.counters().responses['4xx']).toBe(1);
  socket.destroy();
});

test('after a refusal nothing more is served on the connection', async () => {
  const { port, proxy, log } = await startProxyTo((await startEcho()).port);
  const answer = await sendRaw(port, `GET / HTTP/1.1\r\nHost a\r\n\r\n${smuggled}${smuggled}`);
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(log).toEqual([expect.objectContaining({ status: 400, reason: 'bad-request' })]);
  expect(proxy.counters()).toMatchObject({ requests: 1, openRequests: 0 });
});

test('nor is anything that comes in later', async () => {
  const { port, proxy, log } = await startProxyTo((await startEcho()).port);
  const socket = openRaw(port);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const closed = once(socket, 'close');
  socket.write('bad\r\n\r\n');
  await once(socket, 'data');
  socket.write(smuggled);
  socket.end(smuggled);
  await closed;
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(log).toHaveLength(1);
  expect(proxy.counters().requests).toBe(1);
});
