import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Forwarder, ResponseReceiver, UpstreamRequest } from '../../../src/proxy/forwarder.ts';
import { defaultLimits } from '../../../src/proxy/limits.ts';
import { UndiciForwarder } from '../../../src/proxy/undici-forwarder.ts';
import { closeBackends, refusingPort, startBackend, startCanned, startEcho } from '../../support/backends.ts';

const forwarders: Forwarder[] = [];
afterEach(() => Promise.all(forwarders.splice(0).map((forwarder) => forwarder.close())));
afterEach(closeBackends);

function createForwarder(limits: Partial<typeof defaultLimits> = {}): Forwarder {
  const forwarder = new UndiciForwarder({ ...defaultLimits, ...limits });
  forwarders.push(forwarder);
  return forwarder;
}

const get = (port: number, parts: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  upstream: { host: '127.0.0.1', port }, method: 'GET', target: '/', fields: ['host', 'a'], body: undefined, ...parts,
});

/** Notes what it hears; `ended` resolves with all of it. */
function createReceiver() {
  const heard: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<readonly string[]>();
  const end = (what: string): void => {
    heard.push(what);
    resolve(heard);
  };
  const receiver: ResponseReceiver = {
    onConnected: () => heard.push('connected'),
    onInformation: (status) => heard.push(`information ${status}`),
    onHead: (status) => heard.push(`head ${status}`),
    onData: (chunk) => heard.push(`data ${chunk.toString()}`),
    onEnd: (trailers) => end(['end', ...trailers].join(' ')),
    onFailure: (failure) => end(`failure ${failure}`),
  };
  return { receiver, heard, ended };
}

describe('the forwarder', () => {
  test('tells of everything in order', async () => {
    const { port } = await startCanned(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n',
    );
    const { receiver, ended } = createReceiver();
    createForwarder().forward(get(port), receiver);
    expect(await ended).toEqual(['connected', 'information 103', 'head 200', 'data ok', 'end X-Sum 1']);
  });

  test.each([
    ['connect', async () => get(await refusingPort()), []],
    ['reset', async () => get((await startCanned('')).port), ['connected']],
    ['protocol', async () => get((await startCanned('nonsense\r\n')).port), ['connected']],
    ['protocol', async () => get((await startEcho()).port, { target: '/not sendable' }), []],
  ])('failure %s comes once, last, and never before the call is in hand', async (failure, request, before) => {
    const { receiver, heard, ended } = createReceiver();
    const wanted = await request();
    createForwarder().forward(wanted, receiver);
    expect(heard).not.toContain(`failure ${failure}`);
    expect(await ended).toEqual([...before, `failure ${failure}`]);
  });

  test('a request given up before its turn never reaches the backend, and is silent', async () => {
    const urls: (string | undefined)[] = [];
    const backend = await startBackend((request, response) => {
      urls.push(request.url);
      response.end();
    });
    const forwarder = createForwarder({ connectionsPerEndpoint: 1 });
    const [first, second, third] = [createReceiver(), createReceiver(), createReceiver()];
    forwarder.forward(get(backend.port, { target: '/1' }), first.receiver);
    forwarder.forward(get(backend.port, { target: '/2' }), second.receiver).abort();
    forwarder.forward(get(backend.port, { target: '/3' }), third.receiver);
    await Promise.all([first.ended, third.ended]);
    expect(second.heard).toEqual([]);
    expect(urls).toEqual(['/1', '/3']);
  });

  test('a body is not read before there is a connection', async () => {
    let reads = 0;
    const body = new Readable({ read: () => (reads += 1) });
    const { receiver, ended } = createReceiver();
    createForwarder().forward(get(await refusingPort(), { method: 'POST', body }), receiver);
    await ended;
    expect(reads).toBe(0);
  });

  test('release lets requests under way end, closes their connection, and the upstream can come back', async () => {
    const answer = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<Socket>();
    const backend = await startBackend((request, response) => {
      arrived.resolve(request.socket);
      void answer.promise.then(() => response.end('ok'));
    });
    const forwarder = createForwarder();
    const [first, second] = [createReceiver(), createReceiver()];
    const request = get(backend.port);
    forwarder.forward(request, first.receiver);
    const socket = await arrived.promise;
    forwarder.release(request.upstream);
    const closed = once(socket, 'close');
    answer.resolve();
    expect(await first.ended).toEqual(['connected', 'head 200', 'data ok', 'end']);
    await closed;
    forwarder.forward(request, second.receiver);
    expect((await second.ended).at(-1)).toBe('end');
  });
});
