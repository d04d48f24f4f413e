import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Forwarder, ResponseReceiver, UpstreamRequest } from '../../../src/proxy/messages/forwarder.ts';
import { defaultLimits } from '../../../src/proxy/limits/limits.ts';
import { Http1Forwarder } from '../../../src/proxy/upstream/http1-forwarder.ts';
import { ProtocolForwarder } from '../../../src/proxy/upstream/protocol-forwarder.ts';
import { createCounters } from '../../../src/proxy/counters.ts';
import { createQuotas } from '../../../src/proxy/limits/quota.ts';
import { createAuthority } from '../../../src/certificates/index.ts';
import {
  closeBackends,
  refusingPort,
  startBackend,
  startCanned,
  startEcho,
  startNegotiatingBackend,
  startRawBackend,
  startSecureHttp1Backend,
  type ServingPair,
} from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { throwFault } from '../../support/proxy.ts';
import { upstreamRequest } from '../../support/upstream-request.ts';

const forwarders: Forwarder[] = [];
afterEach(() => Promise.all(forwarders.splice(0).map((forwarder) => forwarder.close())));
afterEach(closeBackends);

function createForwarder(limits: Partial<typeof defaultLimits> = {}): Forwarder {
  const all = { ...defaultLimits, ...limits };
  const forwarder = new Http1Forwarder(all, throwFault, createQuotas(all, createCounters()));
  forwarders.push(forwarder);
  return forwarder;
}

const get = (port: number, parts: Partial<UpstreamRequest> = {}): UpstreamRequest =>
  upstreamRequest({ upstream: { host: '127.0.0.1', port }, ...parts });

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
    onHead: ({ status }) => heard.push(`head ${status}`),
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

describe('release while the version of HTTP is being found out', () => {
  test.each([
    ['HTTP/2', startNegotiatingBackend],
    ['HTTP/1.1', startSecureHttp1Backend],
  ])('lets the requests that wait be answered, and closes their connections: %s', async (_, start) => {
    const authority = await createAuthority();
    const backend = await start(await issueLeaf(authority, { dnsNames: ['inner.example'] }));
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
    const forwarder = new ProtocolForwarder(defaultLimits, throwFault, createQuotas(defaultLimits, createCounters()));
    forwarders.push(forwarder);
    const request = get(backend.port, { upstream: { host: '127.0.0.1', port: backend.port, tls } });
    const receivers = [createReceiver(), createReceiver()];
    for (const { receiver } of receivers) forwarder.forward({ ...request, fields: [...request.fields] }, receiver);
    forwarder.release(request.upstream);
    for (const { ended } of receivers) expect((await ended).at(-1)).toBe('end');
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });
});

// Each request that a change overtook left a connection pool for good.
describe('a request to an upstream that was released before', () => {
  test.each([
    ['HTTP/1.1', startSecureHttp1Backend, { protocol: 'http/1.1' as const }],
    ['HTTP/2', startNegotiatingBackend, { protocol: 'h2' as const }],
    ['HTTP/2 by negotiation', startNegotiatingBackend, {}],
    ['HTTP/1.1 by negotiation', startSecureHttp1Backend, {}],
  ])('is answered, and leaves no connection: %s', async (_, start, protocol) => {
    const authority = await createAuthority();
    const backend = await start(await issueLeaf(authority, { dnsNames: ['inner.example'] }));
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
    const forwarder = new ProtocolForwarder(defaultLimits, throwFault, createQuotas(defaultLimits, createCounters()));
    forwarders.push(forwarder);
    const request = get(backend.port, { upstream: { host: '127.0.0.1', port: backend.port, tls, ...protocol } });
    forwarder.release(request.upstream);
    for (let count = 0; count < 2; count += 1) {
      const { receiver, ended } = createReceiver();
      forwarder.forward({ ...request, fields: [...request.fields] }, receiver);
      expect((await ended).at(-1)).toBe('end');
      await eventually(() => expect(backend.openConnections()).toBe(0));
    }
  });
});

test('a request can be aborted while it is being sent on the connection that found out the version of HTTP', async () => {
  const authority = await createAuthority();
  const backend = await startSecureHttp1Backend(await issueLeaf(authority, { dnsNames: ['inner.example'] }));
  const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
  const forwarder = new ProtocolForwarder(defaultLimits, throwFault, createQuotas(defaultLimits, createCounters()));
  forwarders.push(forwarder);
  const { receiver, heard } = createReceiver();
  const call = forwarder.forward(
    get(backend.port, {
      upstream: { host: '127.0.0.1', port: backend.port, tls },
      method: 'POST',
      fields: ['host', 'a', 'content-length', '4'],
      content: Buffer.from('body'),
      sending: () => {
        heard.push('sending');
        call.abort();
      },
    }),
    receiver,
  );
  await eventually(() => expect(heard).toContain('sending'));
  await eventually(() => expect(backend.openConnections()).toBe(0));
  expect(heard).toEqual(['connected', 'sending']);
});

describe('a backend that speaks another version of HTTP than before is asked again', () => {
  /** Answers with the version of HTTP. Without `offers`, it ignores what clients offer. */
  async function listenOn(
    port: number,
    pair: ServingPair,
    offers?: readonly string[],
  ): Promise<{ port: number; close: () => Promise<void> }> {
    const http1 = createHttpServer((_, response) => response.end('1.1'));
    const server = offers?.includes('h2')
      ? createSecureServer({ ...pair, allowHTTP1: true }, (request, response) => response.end(request.httpVersion))
      : createTlsServer({ ...pair, ...(offers && { ALPNProtocols: [...offers] }) }, (socket) =>
          http1.emit('connection', socket),
        );
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      async close() {
        for (const socket of sockets) socket.destroy();
        server.close();
        await once(server, 'close');
      },
    };
  }

  interface Change {
    readonly before: readonly string[];
    readonly after: readonly string[] | undefined;
    readonly needsHttp2: boolean;
    readonly expected: string;
  }

  test.each<[string, Change]>([
    [
      'HTTP/1.1 alone, and then also HTTP/2, which requests need',
      { before: ['http/1.1'], after: ['h2', 'http/1.1'], needsHttp2: true, expected: 'data 2.0' },
    ],
    [
      'HTTP/2, and then HTTP/1.1, whatever is offered',
      { before: ['h2', 'http/1.1'], after: undefined, needsHttp2: false, expected: 'data 1.1' },
    ],
  ])('%s', async (_, { before, after, needsHttp2, expected }) => {
    const authority = await createAuthority();
    const pair = await issueLeaf(authority, { dnsNames: ['inner.example'] });
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority.certificate] };
    const limits = { ...defaultLimits, renegotiationInterval: 0 };
    const forwarder = new ProtocolForwarder(limits, throwFault, createQuotas(limits, createCounters()));
    forwarders.push(forwarder);
    const first = await listenOn(0, pair, before);
    const request = get(first.port, { upstream: { host: '127.0.0.1', port: first.port, tls }, needsHttp2 });
    const outcome = async (): Promise<readonly string[]> => {
      const { receiver, ended } = createReceiver();
      forwarder.forward({ ...request, fields: [...request.fields] }, receiver);
      return await ended;
    };
    expect((await outcome()).at(-1)).toBe(needsHttp2 ? 'failure protocol' : 'end');
    await first.close();
    const second = await listenOn(first.port, pair, after);
    try {
      const heard: string[] = [];
      for (let count = 0; count < 4; count += 1) heard.push(...(await outcome()));
      expect(heard).toContain(expected);
    } finally {
      await second.close();
    }
  });
});

describe('a connection', () => {
  /** Sends two requests, one after the other, to a backend that answers each with these bytes; tells how many connections it took. */
  async function connectionsForTwo(answer: string, parts: Partial<UpstreamRequest> = {}): Promise<number> {
    const backend = await startRawBackend(
      (socket) => void socket.on('data', () => socket.write(answer)).on('end', () => socket.end()),
    );
    const forwarder = createForwarder();
    const request = get(backend.port, parts);
    for (const { receiver, ended } of [createReceiver(), createReceiver()]) {
      forwarder.forward(request, receiver);
      expect((await ended).at(-1)).toMatch(/^end/);
    }
    return backend.connections();
  }

  test.each<[string, string, Partial<UpstreamRequest>]>([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', {}],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', {}],
    ['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', { method: 'HEAD' }],
    ['a long rest', 'HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=60\r\n\r\n', {}],
  ])('is used again after an answer with %s', async (_name, answer, parts) => {
    expect(await connectionsForTwo(answer, parts)).toBe(1);
  });

  test.each([
    ['whose answer asks for its end', 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'],
    ['of HTTP/1.0', 'HTTP/1.0 204 No Content\r\n\r\n'],
    ['that nobody may let rest', 'HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=1\r\n\r\n'],
    [
      'on which more came than was asked for',
      'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    ],
  ])('%s is not used again', async (_name, answer) => {
    expect(await connectionsForTwo(answer)).toBe(2);
  });

  test('on which something comes that nobody asked for is closed', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const sockets: Socket[] = [];
    const backend = await startRawBackend((socket) => {
      sockets.push(socket);
      socket
        .on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
        .on('error', () => undefined)
        .on('end', () => resolve('ended'))
        .on('close', () => resolve('ended'));
    });
    const { receiver, ended: answered } = createReceiver();
    createForwarder().forward(get(backend.port), receiver);
    await answered;
    sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(await ended).toBe('ended');
  });

  test('whose request was answered before it was sent as a whole is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const backend = await startRawBackend((socket) => {
      socket
        .once('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
        .on('end', () => socket.destroy())
        .on('close', () => closed.resolve());
    });
    const body = new Readable({ read: () => undefined });
    const { receiver, ended } = createReceiver();
    createForwarder().forward(get(backend.port, { method: 'POST', body }), receiver);
    expect((await ended).at(-1)).toBe('end');
    await closed.promise;
    expect(body.destroyed).toBe(true);
  });

  test.each([['abc'], ['abcde']])('whose body %j is not as long as it says is broken off', async (text) => {
    const body = Readable.from([Buffer.from(text)]);
    const { receiver, ended } = createReceiver();
    createForwarder().forward(
      get((await startEcho()).port, { method: 'POST', body, fields: ['host', 'a', 'content-length', '4'] }),
      receiver,
    );
    expect(await ended).toEqual(['connected', 'failure reset']);
  });

  test('that has switched its protocol leaves its place to another', async () => {
    const answers = ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n'];
    const backend = await startRawBackend(
      (socket) => void socket.once('data', () => socket.write(answers.shift() ?? '')).on('end', () => socket.end()),
    );
    const forwarder = createForwarder({ connectionsPerEndpoint: 1 });
    const request = get(backend.port);
    const switched = Promise.withResolvers<Duplex>();
    forwarder.forward(
      { ...request, upgrade: 'echo' },
      { ...createReceiver().receiver, onSwitch: (_head, connection) => switched.resolve(connection) },
    );
    const tunnel = await switched.promise;
    const { receiver, ended } = createReceiver();
    forwarder.forward(request, receiver);
    expect((await ended).at(-1)).toBe('end');
    tunnel.destroy();
  });
});
