import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, openRaw, receiveUntil, sendRaw, startProxyTo } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Targets and bodies as a backend saw them. */
async function startRecorder() {
  const seen: string[] = [];
  const backend = await startBackend((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      seen.push(`${request.url} ${body}`);
      response.end(`<${request.url}>`);
    });
  });
  return { seen, port: backend.port };
}

const several = [
  get('/0'),
  'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nab\r\n\r\ncd\r\n\r\n',
  'POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nef\r\n\r\ngh\r\n4;x=y\r\n\r\n\r\n\r\n0\r\nX-A: b\r\n\r\n',
  '\r\n\r\n',
  'POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  last,
].join('');
const asSeen = ['/0 ', '/1 ab\r\n\r\ncd\r\n\r\n', '/2 ef\r\n\r\ngh\r\n\r\n', '/3 ', '/last '];

describe('pipelined requests', () => {
  test('that the proxy answers itself leave turns to others', async () => {
    const { port } = await startProxyTo((await startEcho()).port);
    const count = 1_000;
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    const requests = 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count);
    setImmediate(turn);
    await sendRaw(port, `${requests}OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    isOver = true;
    expect(turns).toBeGreaterThan(count / 2);
  });

  // One more read for each response added more than the next request took, wherever connections waited for their turn.
  test('wait in the sockets of clients while many of them are answered', async () => {
    const { port: backend } = await startRecorder();
    const { port, proxy } = await startProxyTo(backend);
    const connections = 20;
    const many = `GET /many HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(12_000)}\r\n\r\n`.repeat(100);
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, proxy.counters().buffered.used)), 1);
    const answers = Array.from({ length: connections }, () => {
      const socket = openRaw(port);
      socket.write(`${many}${last}`);
      return receiveUntil(socket, '</last>');
    });
    for (const answer of await Promise.all(answers)) expect(answer.match(/<\/many>/g)).toHaveLength(100);
    clearInterval(watching);
    // What is read ahead, one more read, and as much again.
    expect(most / connections).toBeLessThan(2 * (16 + 64) * 1024);
  });

  test.each([several.length, 1, 2, 3, 5, 7, 31, 64])(
    'are served one after the other, in pieces of %i bytes',
    async (size) => {
      const { port: backend, seen } = await startRecorder();
      const { port, proxy } = await startProxyTo(backend);
      const socket = openRaw(port).setNoDelay(true);
      const answers = receiveUntil(socket, '</last>');
      for (let from = 0; from < several.length; from += size) {
        socket.write(several.slice(from, from + size), 'latin1');
        await new Promise(setImmediate);
      }
      expect([...(await answers).matchAll(/<(?<path>[^>]*)>/g)].map((found) => found.groups?.['path'])).toEqual([
        '/0',
        '/1',
        '/2',
        '/3',
        '/last',
      ]);
      expect(seen).toEqual(asSeen);
      expect(proxy.counters().responses).toMatchObject({ '2xx': 5, '4xx': 0 });
      socket.destroy();
    },
  );

  test('wait unread while the one before them is under way', async () => {
    const backend = await startBackend(() => undefined);
    const { port, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    // The kernel holds what nobody reads; when that is full, the client cannot send any more.
    const stuck = once(socket, 'connect').then(
      () =>
        new Promise<void>((resolve) => {
          const push = (): void => {
            if (socket.writableLength > 0) resolve();
            else {
              socket.write(get('/').repeat(20_000));
              setTimeout(push, 20);
            }
          };
          push();
        }),
    );
    await stuck;
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ requests: 1, openRequests: 1, upstreamAttempts: 1 }),
    );
    socket.destroy();
  });

  test('go on when the one before them is done, whatever they had to wait for', async () => {
    const { port: backend, seen } = await startRecorder();
    const { port } = await startProxyTo(backend, { aheadBytes: 64 });
    const answer = await sendRaw(port, `${get('/x').repeat(3_000)}${last}`);
    expect(answer.split('</x>')).toHaveLength(3_001);
    expect(seen).toHaveLength(3_001);
  });

  test('end with the client', async () => {
    const backend = await startBackend(() => undefined);
    const { port, proxy } = await startProxyTo(backend.port);
    const socket = openRaw(port);
    socket.write(get('/').repeat(100));
    await eventually(() => expect(backend.openConnections()).toBe(1));
    socket.destroy();
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0, requests: 1 }),
    );
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });
});

describe('nothing is forwarded behind a request that ends the connection', () => {
  test.each([
    ['gzip, chunked', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['identity, chunked', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n'],
    [
      'identity, chunked with a body',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'an unknown expectation with a body',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 3\r\n\r\nabc',
    ],
    ['a client that closes', 'GET /wrong HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0', 'GET /wrong HTTP/1.0\r\nHost: a\r\n\r\n'],
  ])('%s', async (_name, bytes) => {
    const { port: backend, seen } = await startRecorder();
    const { port } = await startProxyTo(backend);
    const whole = await sendRaw(port, `${bytes}${get('/smuggled')}`);
    expect(whole.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    // And where it comes in another packet.
    const socket = openRaw(port);
    const closed = once(socket.resume(), 'close');
    socket.write(bytes, 'latin1', () => socket.write(get('/smuggled')));
    await closed;
    expect(seen.filter((line) => line !== '/wrong ')).toEqual([]);
  });
});

test('what was sent ahead for too long is dropped, and the connection ends with the response', async () => {
  const answer = Promise.withResolvers<void>();
  const backend = await startBackend((_request, response) => void answer.promise.then(() => response.end('<only>')));
  const { port, proxy } = await startProxyTo(backend.port, { aheadBytes: 64, aheadTimeout: 20 });
  const socket = openRaw(port);
  const received = receiveUntil(socket, '<only>');
  const closed = once(socket, 'close');
  socket.write(get('/').repeat(200_000));
  // All of it is taken once it is dropped.
  await eventually(() => expect(socket.writableLength).toBe(0));
  answer.resolve();
  await Promise.all([received, closed]);
  expect(proxy.counters()).toMatchObject({
    requests: 1,
    upstreamAttempts: 1,
    limitsReached: { pipelined: 1, 'pipelined-time': 1 },
  });
});

test('a request that waits behind a broken one is not served', async () => {
  const { port } = await startProxyTo((await startEcho()).port);
  const answer = await sendRaw(port, `GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n${get('/smuggled')}`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).not.toContain('smuggled');
});
