import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { closeBackends, startRawBackend } from '../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { backendWindow, framesOf, startFrameBackend } from '../../support/http2-backend.ts';
import type { FrameBackend } from '../../support/http2-backend.ts';
import { frame, literal, openFrames, preface, receiveFrames } from '../../support/http2.ts';
import type { RawHttp2 } from '../../support/http2.ts';
import { closeProxies, openRaw, portOf, routeTo, startProxy, startProxyTo, web } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

let authority: string;
let pair: { cert: string; key: string };
beforeAll(async () => {
  const created = await createAuthority();
  authority = created.certificate;
  const { certificate, privateKey } = await issueServingCertificate(created, {
    dnsNames: ['inner.example'],
    ipAddresses: [],
  });
  pair = { cert: certificate, key: privateKey };
});

const endStream = 1;
const endHeaders = 4;
const goaway = (code: number): Buffer => frame('goaway', 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, code]));
const reset = (code: number, stream = 1): Buffer => frame('reset', 0, stream, Buffer.from([0, 0, 0, code]));
const noWindow = frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));

const fields = (method: string): Buffer =>
  literal([':method', method], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
const get = frame('headers', endStream | endHeaders, 1, fields('GET'));
const post = frame('headers', endHeaders, 1, fields('POST'));
/** `:status: 200` (RFC 7541 appendix A). */
const head = (stream: number, flags = endHeaders): Buffer => frame('headers', flags, stream, Buffer.from([0x88]));
const data = (stream: number, bytes: number, flags = 0): Buffer => frame('data', flags, stream, Buffer.alloc(bytes));
const many = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));

/** Nothing of this ends by itself during a test. */
const patient = { idleTimeout: 600_000, stallTimeout: 600_000, connectTimeout: 600_000 };

interface Client extends RawHttp2 {
  readonly resetConnection: () => void;
}

interface Manner {
  readonly start: (port: number) => Promise<ProxyUnderTest>;
  readonly open: (port: number) => Client;
  readonly backend: (answer: (raw: RawHttp2, stream: number) => void) => Promise<FrameBackend>;
}

const plain: Manner = {
  start: (port) =>
    startProxy([{ ...endpointsConfig('app', port), protocol: 'h2c' }, routeTo('app')], { limits: patient }),
  open: (port) => {
    const raw = openFrames(port);
    return { ...raw, resetConnection: () => raw.socket.resetAndDestroy() };
  },
  backend: (answer) => startFrameBackend(answer),
};

const secure: Manner = {
  start: async (port) => {
    const listener = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
    const tls = { serverName: 'inner.example', subjectAltNames: [], authorities: [authority] };
    const route = routeConfig('shop/web', {
      attachments: [{ listener: listener.key, hostnames: [''] }],
      rules: routeTo('app').rules,
    });
    const started = await startProxy([listener, { ...endpointsConfig('app', port), tls }, route], {
      limits: patient,
      certificates: () => pair,
    });
    await started.proxy.apply({ upserts: [], removals: [web.key] });
    return { ...started, port: portOf(started.proxy, listener.key) };
  },
  open: (port) => {
    const below = openRaw(port);
    const socket = connect({ socket: below, ca: authority, servername: 'inner.example', ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined).write(preface);
    return { ...receiveFrames(socket), resetConnection: () => below.resetAndDestroy() };
  },
  backend: (answer) => startFrameBackend(answer, pair),
};

interface State {
  readonly request: Buffer;
  /** What the backend sends at once. */
  readonly answer: (stream: number) => Buffer;
  readonly isReached: (client: RawHttp2, backend: FrameBackend) => void;
}

const nothing = (): Buffer => Buffer.alloc(0);
const atBackend: State['isReached'] = (_client, backend) => expect(backend.requests()).toBe(1);
const answered: State['isReached'] = (client) => expect(framesOf(client, 'headers')).toHaveLength(1);

const states: Readonly<Record<string, State>> = {
  'waits for the answer': { request: get, answer: nothing, isReached: atBackend },
  'has sent a part of the body': {
    request: Buffer.concat([post, data(1, 4)]),
    answer: nothing,
    isReached: (_client, backend) => expect(backend.bodyBytes()).toBe(4),
  },
  'has sent more of the body than the backend takes': {
    request: Buffer.concat([post, many(4, data(1, 16_000))]),
    answer: nothing,
    isReached: (_client, backend) => expect(backend.bodyBytes()).toBe(backendWindow),
  },
  'has received a part of the answer': {
    request: get,
    answer: (stream) => Buffer.concat([head(stream), data(stream, 4)]),
    isReached: (client) => expect(framesOf(client, 'data')).toHaveLength(1),
  },
  'has no window for an answer': {
    request: Buffer.concat([noWindow, get]),
    answer: (stream) => Buffer.concat([head(stream), many(8, data(stream, 16_000))]),
    isReached: answered,
  },
  'has no window for the end of an answer': {
    request: Buffer.concat([noWindow, get]),
    answer: (stream) => Buffer.concat([head(stream), data(stream, 9, endStream)]),
    isReached: answered,
  },
};

test('a client that sends frames after GOAWAY with an error code gets the end of the connection, and no reset', async () => {
  const backend = await plain.backend(nothing);
  const { port } = await plain.start(backend.port);
  const { socket } = plain.open(port);
  socket.allowHalfOpen = true;
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  const ended = once(socket, 'end');
  socket.write(goaway(255));
  await ended;
  // The second one would be the first to meet a connection that was reset.
  for (let count = 0; count < 2; count += 1) {
    await new Promise((resolve) => socket.write(frame('ping', 0, 0, Buffer.alloc(8)), resolve));
    await new Promise(setImmediate);
  }
  socket.end();
  await once(socket, 'close');
  expect(errors).toEqual([]);
});

type Way = readonly [string, (client: Client) => void];

const streamEnds: readonly Way[] = [
  ['resets the stream', ({ socket }) => socket.write(reset(8))],
  ['resets the stream without an error code', ({ socket }) => socket.write(reset(0))],
];

const connectionEnds: readonly Way[] = [
  ['closes the connection', ({ socket }) => socket.destroy()],
  ['resets the connection', ({ resetConnection }) => resetConnection()],
  ['closes its side of the connection', ({ socket }) => socket.end()],
  ['sends GOAWAY and closes its side', ({ socket }) => socket.end(goaway(0))],
  ['sends GOAWAY with an error code', ({ socket }) => socket.write(goaway(2))],
];

describe.each([
  ['', plain],
  [' over TLS', secure],
] as const)('an HTTP/2 client%s', (_name, manner) => {
  describe.each(Object.entries(states))('that %s', (_state, { request, answer, isReached }) => {
    const begin = async () => {
      const backend = await manner.backend((raw, stream) => raw.socket.write(answer(stream)));
      const { port, proxy } = await manner.start(backend.port);
      const client = manner.open(port);
      client.socket.allowHalfOpen = true;
      client.socket.write(request);
      await eventually(() => isReached(client, backend));
      return { backend, client, proxy };
    };
    // Nothing of a request is left to cancel then.
    const isWhole = answer(1).includes(data(1, 9, endStream));

    test.each(connectionEnds)('and %s: everything is released', async (_way, leave) => {
      const { backend, client, proxy } = await begin();
      leave(client);
      await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
      await eventually(() => expect(backend.held()).toBe(isWhole ? 1 : 0));
      client.socket.destroy();
    });

    test.each(streamEnds)('and %s: the stream is released, the connection goes on', async (_way, leave) => {
      const { backend, client, proxy } = await begin();
      leave(client);
      await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 1 }));
      await eventually(() => expect(backend.held()).toBe(isWhole ? 1 : 0));
      client.socket.write(frame('ping', 0, 0, Buffer.alloc(8)));
      await eventually(() => expect(framesOf(client, 'ping')).toHaveLength(1));
      client.socket.destroy();
    });
  });
});

type BackendWay = readonly [string, (raw: RawHttp2, stream: number) => void];

const backendEnds: readonly BackendWay[] = [
  ['closes the connection', ({ socket }) => socket.destroy()],
  ['closes its side of the connection', ({ socket }) => socket.removeAllListeners('end').end()],
  ['sends GOAWAY without the stream', ({ socket }) => socket.removeAllListeners('end').write(goaway(0))],
  ['sends GOAWAY with an error code', ({ socket }) => socket.removeAllListeners('end').write(goaway(2))],
  ['resets the stream', ({ socket }, stream) => socket.write(reset(8, stream))],
  ['resets the stream without an error code', ({ socket }, stream) => socket.write(reset(0, stream))],
];

const withoutPart: ReadonlySet<string> = new Set([
  'waits for the answer',
  'has sent a part of the body',
  'has sent more of the body than the backend takes',
]);

describe.each([
  ['', plain],
  [' over TLS', secure],
] as const)('a backend of HTTP/2%s', (_name, manner) => {
  describe.each(Object.entries(states).filter(([name]) => name !== 'has no window for the end of an answer'))(
    'whose client %s',
    (state, { request, answer, isReached }) => {
      test.each(backendEnds)('and that %s: everything is released', async (way, leave) => {
        let last = 0;
        const backend = await manner.backend((raw, stream) => {
          last = stream;
          raw.socket.write(answer(stream));
        });
        const { port, proxy, log } = await manner.start(backend.port);
        const client = manner.open(port);
        client.socket.write(request);
        await eventually(() => isReached(client, backend));
        leave(backend.connections[0]!, last);
        await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 1 }));
        const isAnswered = !withoutPart.has(state);
        expect(log).toEqual([
          expect.objectContaining(
            isAnswered
              ? { status: 200, reason: expect.stringMatching(/^backend-(reset|refused)$/) }
              : { status: expect.any(Number) },
          ),
        ]);
        expect([200, 502, 503]).toContain(log[0]?.status);
        // A part is never taken for the whole.
        const isEnded = (): boolean => framesOf(client, 'data').some(({ flags }) => (flags & endStream) !== 0);
        await eventually(() =>
          expect([isEnded(), framesOf(client, 'reset').length]).toEqual(isAnswered ? [false, 1] : [true, 0]),
        );
        const isStreamAlone = way.startsWith('resets');
        await eventually(() =>
          expect(backend.connections.map(({ socket }) => socket.destroyed || socket.readableEnded)).toEqual([
            !isStreamAlone,
          ]),
        );
        client.socket.destroy();
      });
    },
  );
});

describe('a WebSocket over HTTP/2', () => {
  const extended = literal(
    [':method', 'CONNECT'],
    [':protocol', 'websocket'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'a'],
    ['sec-websocket-version', '13'],
  );
  const openTunnel = async () => {
    let last = 0;
    const backend = await plain.backend((raw, stream) => {
      last = stream;
      raw.socket.write(Buffer.concat([head(stream), data(stream, 4)]));
    });
    const { port, proxy } = await plain.start(backend.port);
    const client = plain.open(port);
    client.socket.allowHalfOpen = true;
    client.socket.write(frame('headers', endHeaders, 1, extended));
    await eventually(() => expect(framesOf(client, 'data')).toHaveLength(1));
    return { backend, client, proxy, stream: last };
  };

  test.each([...connectionEnds, ...streamEnds])('whose client %s ends towards the backend', async (_way, leave) => {
    const { backend, client, proxy } = await openTunnel();
    leave(client);
    await eventually(() => expect(proxy.counters().openRequests).toBe(0));
    await eventually(() => expect(backend.held()).toBe(0));
    client.socket.destroy();
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
  });

  test.each(backendEnds.filter(([way]) => !way.startsWith('sends GOAWAY without')))(
    'whose backend %s ends towards the client',
    async (_way, leave) => {
      const { backend, client, proxy, stream } = await openTunnel();
      leave(backend.connections[0]!, stream);
      await eventually(() => expect(framesOf(client, 'reset')).toHaveLength(1));
      await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 1 }));
      client.socket.destroy();
    },
  );
});

test('clients that leave take their places at the backend with them', async () => {
  const backend = await startRawBackend((socket) => void socket.on('end', () => socket.destroy()).resume());
  const { port, proxy } = await startProxyTo(backend.port, { ...patient, connectionsPerEndpoint: 2 });
  for (let round = 0; round < 8; round += 1) {
    const client = openFrames(port);
    client.socket.write(get);
    await eventually(() => expect(backend.connections()).toBe(round + 1));
    client.socket.destroy();
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  }
  await eventually(() => expect(backend.openConnections()).toBe(0));
});

test.each(['before', 'after'])(
  'a client that closes in the middle of a frame, %s its first response, is released',
  async (when) => {
    const backend = await startFrameBackend(({ socket }, stream) => socket.write(head(stream, endHeaders | endStream)));
    const { port, proxy } = await plain.start(backend.port);
    const client = plain.open(port);
    if (when === 'after') {
      client.socket.write(get);
      await eventually(() => expect(framesOf(client, 'headers')).toHaveLength(1));
    }
    client.socket.write(frame('headers', endHeaders, 3, fields('GET')).subarray(0, 20));
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 1 }));
    client.socket.end();
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
  },
);
