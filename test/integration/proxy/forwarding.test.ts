import { request as startRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startCanned, startEcho, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import {
  closeProxies,
  echoed,
  fieldValues,
  openRaw,
  receiveUntil,
  routeTo,
  send,
  sendRaw,
  startProxy,
  startProxyTo,
} from '../../support/proxy.ts';
import { traceContextOf, traceContexts } from '../../support/trace-context.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('requests', () => {
  test('what belongs to one connection stays on it', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const seen = await echoed(port, '/', {
      method: 'POST',
      body: 'x',
      headers: {
        connection: 'close, X-Hop , Upgrade, HTTP2-Settings',
        'x-hop': '1',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
        'keep-alive': 'timeout=5',
        'proxy-connection': 'close',
        te: 'trailers, deflate',
        'x-end': '2',
      },
    });
    expect(seen.body).toBe('x');
    for (const name of ['x-hop', 'upgrade', 'http2-settings', 'keep-alive', 'proxy-connection']) {
      expect(fieldValues(seen, name)).toEqual([]);
    }
    expect(fieldValues(seen, 'connection')).toEqual(['keep-alive']);
    expect(fieldValues(seen, 'te')).toEqual(['trailers']);
    expect(fieldValues(seen, 'x-end')).toEqual(['2']);
  });

  test('Connection cannot remove what the proxy sets, or what is for every recipient', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const seen = await echoed(port, '/', {
      method: 'POST',
      body: 'abc',
      headers: {
        host: 'shop',
        connection:
          'close, host, content-length, x-forwarded-for, x-forwarded-proto, via, authorization, Cookie, x-hop',
        'x-forwarded-for': '9.9.9.9',
        authorization: 'Basic x',
        cookie: 'a=b',
        'x-hop': '1',
      },
    });
    expect(seen.body).toBe('abc');
    const values = [
      'host',
      'content-length',
      'x-forwarded-for',
      'x-forwarded-proto',
      'via',
      'authorization',
      'cookie',
      'x-hop',
    ].map((name) => fieldValues(seen, name));
    expect(values).toEqual([
      ['shop'],
      ['3'],
      ['9.9.9.9, 127.0.0.1'],
      ['http'],
      ['1.1 sallyport'],
      ['Basic x'],
      ['a=b'],
      [],
    ]);
  });

  test('Via names the version in which the client spoke', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    expect(await sendRaw(port, 'GET / HTTP/1.0\r\nHost: a\r\n\r\n')).toMatch(/"via","1\.0 sallyport"/);
  });

  test('Via and X-Forwarded-* are written; a chain is appended to, Forwarded left alone', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const seen = await echoed(port, '/', {
      headers: {
        host: 'shop.example:81',
        via: '1.0 edge',
        'x-forwarded-for': ['10.0.0.1', '10.0.0.2'],
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'claimed',
        forwarded: 'for=10.0.0.1',
      },
    });
    expect(fieldValues(seen, 'via')).toEqual(['1.0 edge', '1.1 sallyport']);
    expect(fieldValues(seen, 'x-forwarded-for')).toEqual(['10.0.0.1, 10.0.0.2, 127.0.0.1']);
    expect(fieldValues(seen, 'x-forwarded-proto')).toEqual(['http']);
    expect(fieldValues(seen, 'x-forwarded-host')).toEqual(['shop.example:81']);
    expect(fieldValues(seen, 'forwarded')).toEqual(['for=10.0.0.1']);
  });

  test('at an edge the claims of clients are dropped', async () => {
    const resources = [endpointsConfig('app', (await startEcho()).port), routeTo('app')];
    const { port } = await startProxy(resources, { forwarded: 'replace' });
    const seen = await echoed(port, '/', { headers: { 'x-forwarded-for': '10.0.0.1', forwarded: 'for=10.0.0.1' } });
    expect(fieldValues(seen, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(fieldValues(seen, 'forwarded')).toEqual([]);
  });

  test('repeated fields keep their number, order and spelling', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const seen = await echoed(port, '/', { headers: { 'X-MixedCase': ['b', 'a'], cookie: 'a=1; b=2' } });
    expect(seen.fields.filter((_, position) => seen.fields[position - 1] === 'X-MixedCase')).toEqual(['b', 'a']);
    expect(fieldValues(seen, 'cookie')).toEqual(['a=1; b=2']);
  });

  test.each(traceContexts)('a trace context is forwarded unchanged: $traceparent', async (headers) => {
    const { port } = await startProxyTo((await startEcho()).port);
    expect(traceContextOf(await echoed(port, '/', { headers }))).toEqual(headers);
  });

  test('the authority of an absolute target takes the place of Host', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const answer = await sendRaw(
      port,
      'GET http://Shop.example:81?a=1 HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toContain('"target":"/?a=1"');
    expect(answer).toContain('"host","Shop.example:81"');
    expect(answer).not.toContain('other');
  });

  test('HTTP/1.0 needs no Host and is answered as it can read', async () => {
    const backend = await startBackend((_request, response) => {
      response.writeHead(200, { trailer: 'x-sum' });
      response.write('in ');
      response.addTrailers({ 'x-sum': '1' });
      response.end('chunks');
    });
    const { port } = await startProxyTo(backend.port);
    const answer = await sendRaw(port, 'GET / HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.toLowerCase()).not.toContain('transfer-encoding');
    expect(answer.toLowerCase()).not.toContain('x-sum');
    expect(answer).toMatch(/\r\n\r\nin chunks$/);
  });

  test('a chunked body goes on chunked, one with a length with that length', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';
    const chunked = await sendRaw(
      port,
      `${head}Transfer-Encoding: Chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n`,
    );
    expect(chunked).toContain('"body":"abcde"');
    expect(chunked).toContain('"transfer-encoding","chunked"');
    expect(chunked).not.toMatch(/x-trailer/i);
    const sized = await sendRaw(port, `${head}Content-Length: 3\r\n\r\nabc`);
    expect(sized).toContain('"content-length","3"');
    expect(sized).toContain('"body":"abc"');
  });

  test.each(['GET', 'DELETE', 'OPTIONS', 'QUERY'])('%s may have a body', async (method) => {
    const { port } = await startProxyTo((await startEcho()).port);
    expect(await echoed(port, '/', { method, body: 'asked', headers: { 'content-length': '5' } })).toMatchObject({
      method,
      body: 'asked',
    });
  });

  test('Max-Forwards is counted down and ends at the proxy', async () => {
    const { port, log } = await startProxyTo((await startEcho()).port);
    const options = (hops: string) => send(port, '/', { method: 'OPTIONS', headers: { 'max-forwards': hops } });
    expect(fieldValues(JSON.parse((await options('3')).body), 'max-forwards')).toEqual(['2']);
    expect((await options('0')).status).toBe(204);
    expect((await send(port, '/', { method: 'TRACE', headers: { 'max-forwards': '0' } })).status).toBe(501);
    expect(fieldValues(await echoed(port, '/', { headers: { 'max-forwards': '0' } }), 'max-forwards')).toEqual(['0']);
    expect(log.map(({ upstream }) => upstream !== undefined)).toEqual([true, false, false, true]);
  });

  test('OPTIONS * asks the proxy itself', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    expect(await sendRaw(port, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 204 /,
    );
  });
});

describe('Expect', () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';

  test('the body is called for once a backend wants it', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const socket = openRaw(port);
    const continued = receiveUntil(socket, 'HTTP/1.1 100 Continue\r\n\r\n');
    const answered = receiveUntil(socket, '"body":"body"');
    socket.write(head);
    await continued;
    socket.write('body');
    const answer = await answered;
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer).not.toMatch(/"expect"/i);
  });

  test('without a backend the final answer comes at once, and the connection ends', async () => {
    const { port } = await startProxy([]);
    const answer = await sendRaw(port, head.replace('Connection: close\r\n', ''));
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toMatch(/connection: close/i);
  });

  test('other expectations cannot be met', async () => {
    const { port, log } = await startProxyTo((await startEcho()).port);
    expect((await send(port, '/', { headers: { expect: 'a-miracle' } })).status).toBe(417);
    expect(log).toEqual([expect.objectContaining({ reason: 'expectation-failed' })]);
  });
});

describe('answers', () => {
  test('status, repeated fields and body come back; what belongs to one connection does not', async () => {
    const backend = await startCanned(
      'HTTP/1.1 418 Whatever\r\nX-A: 1\r\nX-A: 2\r\nServer: theirs\r\nVia: 1.1 inner\r\nConnection: close, x-hop\r\nX-Hop: 1\r\n' +
        'Keep-Alive: timeout=1\r\nUpgrade: h2c\r\nProxy-Connection: close\r\nContent-Length: 2\r\n\r\nok',
    );
    const { port } = await startProxyTo(backend.port);
    const answer = await send(port, '/', { headers: { connection: 'keep-alive' } });
    expect(answer).toMatchObject({ status: 418, body: 'ok' });
    expect(answer.headers).toMatchObject({
      'x-a': '1, 2',
      server: 'theirs',
      via: '1.1 inner, 1.1 sallyport',
      connection: 'keep-alive',
      'keep-alive': 'timeout=75',
    });
    for (const name of ['x-hop', 'upgrade', 'proxy-connection']) expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers).toHaveProperty('date');
  });

  test('Via names the version in which the backend spoke', async () => {
    const { port } = await startProxyTo(
      (await startCanned('HTTP/1.0 200 OK\r\nVia: 2.0 inner\r\nContent-Length: 2\r\n\r\nok')).port,
    );
    expect((await send(port, '/')).headers.via).toBe('2.0 inner, 1.0 sallyport');
  });

  test('trailers come back, without those about routing', async () => {
    const backend = await startCanned(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nHost: evil\r\n\r\n',
    );
    const { port } = await startProxyTo(backend.port);
    const answer = await send(port, '/');
    expect(answer).toMatchObject({ status: 200, body: 'ok', trailers: { 'x-sum': '7' } });
    expect(answer.headers.trailer).toBe('X-Sum');
    expect(answer.trailers).not.toHaveProperty('host');
  });

  test('interim answers come through, for HTTP/1.1 only', async () => {
    const backend = await startCanned(
      `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Other: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${ok}`,
    );
    const { port } = await startProxyTo(backend.port);
    const interim: { status: number; link: unknown }[] = [];
    const status = await new Promise((resolve, reject) => {
      startRequest({ host: '127.0.0.1', port })
        .on('information', ({ statusCode, headers }) => interim.push({ status: statusCode, link: headers['link'] }))
        .on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
    expect(interim).toEqual([
      { status: 103, link: '</a.css>; rel=preload' },
      { status: 102, link: undefined },
    ]);
    expect(await sendRaw(port, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
  });

  test('HEAD keeps the length and has no body', async () => {
    const backend = await startBackend((_request, response) => response.setHeader('content-length', '1000').end());
    const { port } = await startProxyTo(backend.port);
    const answer = await send(port, '/', { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers['content-length']).toBe('1000');
    const own = await sendRaw((await startProxy([])).port, 'HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(own).toMatch(/content-length: [1-9][0-9]*\r\n/);
    expect(own).toMatch(/\r\n\r\n$/);
  });

  test.each([
    ['204 No Content', 'Content-Length: 0\r\n', undefined],
    ['304 Not Modified', 'Content-Length: 55\r\nETag: "a"\r\n', '55'],
  ])('%s has no body', async (status, fields, length) => {
    const { port } = await startProxyTo((await startCanned(`HTTP/1.1 ${status}\r\n${fields}\r\n`)).port);
    const answer = await send(port, '/');
    expect(answer).toMatchObject({ status: Number.parseInt(status, 10), body: '' });
    expect(answer.headers['content-length']).toBe(length);
    expect(answer.headers).not.toHaveProperty('transfer-encoding');
  });

  test('a head without a body yet does not wait for one', async () => {
    const backend = await startBackend((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    );
    const { port } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    const head = receiveUntil(socket, '\r\n\r\n');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await head).toContain('text/event-stream');
    socket.destroy();
  });

  test('an answer that ends with its connection is whole', async () => {
    const { port } = await startProxyTo((await startCanned('HTTP/1.0 200 OK\r\n\r\nuntil the end')).port);
    expect(await send(port, '/')).toMatchObject({ status: 200, body: 'until the end' });
  });

  test.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a second length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
    ['length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a coding besides chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['an endless header', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}`],
    [
      'an upgrade that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
  ])('502 for %s', async (_name, bytes) => {
    const { port, log } = await startProxyTo((await startCanned(bytes)).port);
    const answer = await send(port, '/');
    expect(answer.status).toBe(502);
    expect(answer.headers['server']).toBe('sallyport');
    expect(log).toEqual([expect.objectContaining({ status: 502, reason: expect.stringMatching(/^backend-/) })]);
  });

  test('what a backend sends beyond its answer is never taken for the next one', async () => {
    const backend = await startRawBackend((socket) => {
      socket.on('data', () => socket.write(`${ok}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`));
    });
    const { port } = await startProxyTo(backend.port);
    for (let request = 0; request < 3; request += 1) expect((await send(port, '/')).body).toBe('ok');
  });
});
