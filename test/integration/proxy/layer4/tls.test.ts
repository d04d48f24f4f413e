import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createTlsServer, connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../../src/certificates/index.ts';
import type { ConfigResource, ListenerConfig } from '../../../../src/core/routing/config.ts';
import type { CertificatePair } from '../../../../src/proxy/listen/identities.ts';
import { Output } from '../../../../src/proxy/sockets/output.ts';
import { closeBackends, startEcho, startRawBackend } from '../../../support/backends.ts';
import { issueLeaf } from '../../../support/certificates.ts';
import { helloBody, helloOf, inRecords, serverNameExtension } from '../../../support/client-hello.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { backendTo, dial, endOf, hostOf, layer4Route, startLayer4, tlsListener } from '../../../support/layer4.ts';
import type { Layer4UnderTest } from '../../../support/layer4.ts';
import { TlsPeer } from '../../../support/tls-peer.ts';
import { closeProxies, receiveUntil, routeTo, throwFault } from '../../../support/proxy.ts';

let authority: Authority;
const pairs = new Map<string, CertificatePair>();
const closers: (() => void)[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  pairs.set(
    'infra/server',
    await issueLeaf(authority, { dnsNames: ['a.example.com', '*.example.com'], commonName: 'proxy' }),
  );
  pairs.set(
    'backend',
    await issueLeaf(authority, { dnsNames: ['a.example.com', 'backend.example.com'], commonName: 'backend' }),
  );
});
afterEach(closeProxies);
afterEach(closeBackends);
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A backend over TLS that answers each line with its name, the server name that it saw, and the line. */
async function startTlsBackend(name: string, protocols?: readonly string[]): Promise<number> {
  const sockets = new Set<TLSSocket>();
  const server = createTlsServer(
    { ...pairs.get('backend'), allowHalfOpen: true, ...(protocols && { ALPNProtocols: [...protocols] }) },
    (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      socket.on('data', (chunk: Buffer) =>
        socket.write(`${name} ${String(socket.servername)} ${String(socket.alpnProtocol)} ${chunk.toString()}`),
      );
      socket.on('end', () => socket.end('bye'));
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function start(...resources: readonly ConfigResource[]): Promise<Layer4UnderTest> {
  return startLayer4(resources, {
    certificates: (secret) => pairs.get(secret),
    onFault: throwFault,
    // On a busy machine, a ClientHello in hundreds of packets takes seconds.
    limits: { tlsHandshakeTimeout: 600_000 },
  });
}

/** Connects over TLS; `servername` undefined sends none. */
function open(started: Layer4UnderTest, servername: string | undefined, options: ConnectionOptions = {}): TLSSocket {
  const port = started.portOf(bound);
  const socket = connectTls({
    host: hostOf(3),
    port,
    ca: authority.certificate,
    checkServerIdentity: () => undefined,
    ...(servername === undefined ? {} : { servername }),
    allowHalfOpen: true,
    ...options,
  } as ConnectionOptions);
  return socket.on('error', () => undefined);
}

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve());
  });
}

/** One of the listeners of the test; all are on one port. */
let bound: ListenerConfig;

/** Sends a line and takes the answer; `closed` where the connection ends before, `alert` where TLS says why. */
async function ask(
  started: Layer4UnderTest,
  servername: string | undefined,
  options: ConnectionOptions = {},
): Promise<string> {
  const socket = open(started, servername, options);
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(/alert/i.test(error.message) ? 'alert' : 'closed'));
  socket.on('end', () => resolve('closed')).on('close', () => resolve('closed'));
  socket.on('secureConnect', () => socket.write('hi'));
  socket.on('data', (chunk: Buffer) => resolve(chunk.toString()));
  const answer = await promise;
  socket.destroy();
  return answer;
}

function listener(name: string, mode: 'Terminate' | 'Passthrough', hostname?: string): ListenerConfig {
  bound = tlsListener(name, mode, hostname === undefined ? {} : { hostname });
  return bound;
}

function tlsRoute(name: string, at: ListenerConfig, hostnames: readonly string[], service = 'app') {
  return layer4Route('TLSRoute', at, {
    key: `route/TLSRoute/shop/${name}`,
    route: `shop/${name}`,
    attachments: [{ listener: at.key, hostnames }],
    backends: [backendTo(service)],
  });
}

describe('passthrough', () => {
  test('forwards the ClientHello and everything behind it unchanged', async () => {
    const at = listener('tls', 'Passthrough');
    const seen: Buffer[] = [];
    const backend = await startRawBackend((socket) =>
      socket.on('data', (chunk: Buffer) => seen.push(chunk)).on('end', () => socket.end()),
    );
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['a.example.com']));
    const hello = await helloOf({ servername: 'a.example.com', ALPNProtocols: ['h2'] });
    const client = dial(started, at);
    client.write(Buffer.concat([hello, Buffer.from('early data')]));
    await eventually(() => expect(Buffer.concat(seen)).toEqual(Buffer.concat([hello, Buffer.from('early data')])));
    client.destroy();
    await eventually(() => expect(started.connections).toHaveLength(1));
    expect(started.connections[0]).toMatchObject({
      transport: 'tls',
      serverName: 'a.example.com',
      route: 'TLSRoute/shop/a',
      listener: at.key,
    });
  });

  test('lets the client and the backend speak TLS with each other', async () => {
    const at = listener('tls', 'Passthrough');
    const started = await start(
      at,
      endpointsConfig('app', await startTlsBackend('b', ['h2'])),
      tlsRoute('a', at, ['*.example.com']),
    );
    expect(await ask(started, 'A.example.com', { ALPNProtocols: ['h2'] })).toMatch(/^b a\.example\.com h2 hi/i);
  });

  test('reads a ClientHello in pieces of one byte, in many records, and with post-quantum key shares', async () => {
    const at = listener('tls', 'Passthrough');
    const backend = await startRawBackend((socket) => socket.on('data', () => socket.write('seen')));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['a.example.com']));
    const drip = dial(started, at);
    drip.setNoDelay(true);
    for (const byte of inRecords(helloBody([serverNameExtension('a.example.com')]), 1)) {
      drip.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect(await receiveUntil(drip, 'seen')).toBe('seen');
    const large = dial(started, at);
    large.write(await helloOf({ servername: 'a.example.com', ecdhCurve: 'X25519MLKEM768' }));
    expect(await receiveUntil(large, 'seen')).toBe('seen');
    for (const socket of [drip, large]) socket.destroy();
  });

  test('reads a ClientHello in two packets split at every byte', async () => {
    const at = listener('tls', 'Passthrough');
    const hello = await helloOf({ servername: 'a.example.com', ALPNProtocols: ['h2', 'http/1.1'] });
    let seen: Buffer[] = [];
    const backend = await startRawBackend((socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => socket.end());
      socket.on('close', () => seen.push(Buffer.concat(chunks)));
    });
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['a.example.com']));
    const cuts = [...hello.keys()].slice(1);
    const batch = 100;
    for (let begin = 0; begin < cuts.length; begin += batch) {
      seen = [];
      const some = cuts.slice(begin, begin + batch).map((cut) => ({ cut, client: dial(started, at).setNoDelay(true) }));
      await Promise.all(some.map(({ client, cut }) => written(client, hello.subarray(0, cut))));
      // The data plane has accepted the connections, so it can read the first packets before the second ones are sent.
      await eventually(() => expect(started.proxy.counters().connections).toBe(begin + some.length));
      await new Promise(setImmediate);
      for (const { client, cut } of some) client.end(hello.subarray(cut));
      await eventually(() => expect(seen).toHaveLength(some.length));
      expect(seen.filter((bytes) => !bytes.equals(hello))).toEqual([]);
    }
    await eventually(() => expect(started.connections).toHaveLength(cuts.length));
    expect(started.connections.filter(({ serverName }) => serverName !== 'a.example.com')).toEqual([]);
  });

  test('does not encrypt a second time where a BackendTLSPolicy targets the Service', async () => {
    const at = listener('tls', 'Passthrough');
    const tls = { serverName: 'backend.example.com', subjectAltNames: [], authorities: [authority.certificate] };
    const started = await start(
      at,
      { ...endpointsConfig('app', await startTlsBackend('b')), tls },
      tlsRoute('a', at, ['a.example.com']),
    );
    expect(await ask(started, 'a.example.com')).toBe('b a.example.com false hi');
  });

  test('passes half-close and resets on', async () => {
    const at = listener('tls', 'Passthrough');
    const started = await start(
      at,
      endpointsConfig('app', await startTlsBackend('b')),
      tlsRoute('a', at, ['a.example.com']),
    );
    const socket = open(started, 'a.example.com');
    await once(socket, 'secureConnect');
    socket.end();
    expect(await endOf(socket)).toEqual({ received: 'bye', how: 'end' });
    await eventually(() => expect(started.connections).toHaveLength(1));
    expect(started.connections[0]).not.toHaveProperty('reason');
  });
});

describe('which listener and route', () => {
  test('the most specific hostname wins, of listeners and then of routes', async () => {
    const [exact, wild, any] = [
      listener('exact', 'Passthrough', 'a.example.com'),
      listener('wild', 'Passthrough', '*.example.com'),
      listener('any', 'Passthrough'),
    ];
    const started = await start(
      exact,
      wild,
      any,
      ...(await Promise.all(
        ['exact', 'wild', 'longer', 'any', 'none'].map(async (name) =>
          endpointsConfig(name, await startTlsBackend(name)),
        ),
      )),
      tlsRoute('exact', exact, ['a.example.com'], 'exact'),
      tlsRoute('wild', wild, ['*.example.com'], 'wild'),
      tlsRoute('longer', wild, ['*.b.example.com'], 'longer'),
      tlsRoute('any', any, ['other.test'], 'any'),
      tlsRoute('none', any, [''], 'none'),
    );
    expect(await ask(started, 'a.example.com')).toMatch(/^exact /);
    expect(await ask(started, 'b.example.com')).toMatch(/^wild /);
    expect(await ask(started, 'x.b.example.com')).toMatch(/^longer /);
    expect(await ask(started, 'other.test')).toMatch(/^any /);
    expect(await ask(started, 'unknown.test')).toMatch(/^none /);
    expect(await ask(started, undefined)).toMatch(/^none /);
  });

  test('a connection without a server name reaches only the listener without hostname', async () => {
    const at = listener('tls', 'Passthrough', '*.example.com');
    const started = await start(
      at,
      endpointsConfig('app', await startTlsBackend('b')),
      tlsRoute('a', at, ['*.example.com']),
    );
    expect(await ask(started, undefined)).toBe('closed');
    expect(await ask(started, 'a.example.com')).toMatch(/^b /);
  });

  test.each(['Passthrough', 'Terminate'] as const)(
    'a name that a listener on another port also has belongs to the listener of the port (%s)',
    async (mode) => {
      const names = ['a.example.com', '*.example.com'];
      const [here, there] = [3, 4].map((port, index) =>
        tlsListener(`tls-${port}`, mode, { port, hostname: names[index] ?? '' }),
      ) as [ListenerConfig, ListenerConfig];
      const plain = async (name: string): Promise<number> =>
        (await startRawBackend((socket) => socket.on('data', () => socket.write(`${name} `)))).port;
      const backend = mode === 'Passthrough' ? startTlsBackend : plain;
      const started = await start(
        here,
        there,
        endpointsConfig('here', await backend('here')),
        endpointsConfig('there', await backend('there')),
        tlsRoute('here', here, ['a.example.com'], 'here'),
        tlsRoute('there', there, ['*.example.com'], 'there'),
      );
      const at = (one: ListenerConfig) => ({ host: hostOf(one.port), port: started.portOf(one) });
      bound = here;
      expect(await ask(started, 'a.example.com', at(here))).toMatch(/^here /);
      expect(await ask(started, 'a.example.com', at(there))).toMatch(/^there /);
      expect(await ask(started, 'b.example.com', at(here))).toBe('closed');
      expect(await ask(started, 'b.example.com', at(there))).toMatch(/^there /);
    },
  );

  test.each([
    ['an unknown name', 'Passthrough', 'other.test'],
    ['no name', 'Passthrough', undefined],
    ['a name without route', 'Passthrough', 'b.example.com'],
    ['an unknown name', 'Terminate', 'other.test'],
    ['no name', 'Terminate', undefined],
  ] as const)('%s closes the connection without an alert (%s)', async (_what, mode, name) => {
    const at = listener('tls', mode, '*.example.com');
    const started = await start(
      at,
      endpointsConfig('app', await startTlsBackend('b')),
      tlsRoute('a', at, ['a.example.com']),
    );
    expect(await ask(started, name)).toBe('closed');
  });

  test.each(['Passthrough', 'Terminate'] as const)(
    'an invalid backend closes the connection without an alert (%s)',
    async (mode) => {
      const at = listener('tls', mode, 'a.example.com');
      const route = {
        ...tlsRoute('a', at, ['a.example.com']),
        backends: [{ weight: 1, target: { type: 'invalid', reason: 'not found' } }],
      } as const;
      const started = await start(at, route);
      expect(await ask(started, 'a.example.com')).toBe('closed');
      await eventually(() => expect(started.connections[0]?.reason).toBe('invalid-backend'));
    },
  );

  test.each([
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n')],
    ['a malformed ClientHello', Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0])],
  ])('%s is closed at once', async (_what, bytes) => {
    const at = listener('tls', 'Passthrough');
    const started = await start(at, endpointsConfig('app', await startTlsBackend('b')), tlsRoute('a', at, ['']));
    const client = dial(started, at);
    client.write(bytes);
    expect((await endOf(client)).received).toBe('');
    await eventually(() => expect(started.proxy.counters().openConnections).toBe(0));
  });

  test('plain HTTP is told so where an HTTPS listener shares the port', async () => {
    const at = listener('tls', 'Passthrough', 'a.example.com');
    const https = listenerConfig('https', {
      protocol: 'HTTPS',
      port: 3,
      hostname: 'b.example.com',
      certificates: ['infra/server'],
    });
    const started = await start(at, https);
    const client = dial(started, at);
    client.write('GET / HTTP/1.1\r\nHost: b.example.com\r\n\r\n');
    expect((await endOf(client)).received).toMatch(/^HTTP\/1\.1 400 [^]*The port serves HTTPS/);
  });
});

describe('termination', () => {
  test('forwards the decrypted bytes, both ways and half-closed', async () => {
    const at = listener('tls', 'Terminate', '*.example.com');
    const backend = await startRawBackend((socket) => {
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('end', () => socket.end(`got ${received}`));
    });
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['a.example.com']));
    const socket = open(started, 'a.example.com');
    socket.end('question');
    expect(await endOf(socket)).toEqual({ received: 'got question', how: 'end' });
    await eventually(() => expect(started.connections).toHaveLength(1));
    expect(started.connections[0]).toMatchObject({
      transport: 'tls',
      serverName: 'a.example.com',
      receivedBytes: 8,
      sentBytes: 12,
    });
    expect(started.connections[0]).not.toHaveProperty('reason');
  });

  test('lets a backend speak first', async () => {
    const at = listener('tls', 'Terminate');
    const backend = await startRawBackend((socket) => socket.write('220 ready\r\n'));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['']));
    const socket = open(started, undefined);
    expect(await receiveUntil(socket, '220 ready')).toBe('220 ready\r\n');
    socket.destroy();
  });

  test('confirms a single protocol, and leaves several open', async () => {
    const at = listener('tls', 'Terminate');
    const backend = await startRawBackend((socket) => socket.pipe(socket));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['']));
    for (const [offered, chosen] of [
      [['mqtt'], 'mqtt'],
      [['h2', 'http/1.1'], false],
      [undefined, false],
    ] as const) {
      const socket = open(started, 'a.example.com', offered === undefined ? {} : { ALPNProtocols: [...offered] });
      await once(socket, 'secureConnect');
      expect(socket.alpnProtocol).toBe(chosen);
      socket.write('x');
      await receiveUntil(socket, 'x');
      socket.destroy();
    }
  });

  test('encrypts to backends with a BackendTLSPolicy, with its server name and the protocol of the client', async () => {
    const at = listener('tls', 'Terminate');
    const port = await startTlsBackend('b', ['mqtt']);
    const tls = { serverName: 'backend.example.com', subjectAltNames: [], authorities: [authority.certificate] };
    const started = await start(at, { ...endpointsConfig('app', port), tls }, tlsRoute('a', at, ['']));
    expect(await ask(started, 'a.example.com')).toBe('b backend.example.com false hi');
    expect(await ask(started, 'a.example.com', { ALPNProtocols: ['mqtt'] })).toBe('b backend.example.com mqtt hi');
    const socket = open(started, 'a.example.com');
    await once(socket, 'secureConnect');
    socket.end();
    expect(await endOf(socket)).toEqual({ received: 'bye', how: 'end' });
  });

  test('ends the connections of clients whose backend does not prove its name', async () => {
    const at = listener('tls', 'Terminate');
    const tls = { serverName: 'stranger.example.com', subjectAltNames: [], authorities: [authority.certificate] };
    const started = await start(
      at,
      { ...endpointsConfig('app', await startTlsBackend('b')), tls },
      tlsRoute('a', at, ['']),
    );
    expect(await ask(started, 'a.example.com')).toBe('closed');
    await eventually(() => expect(started.connections[0]?.reason).toBe('connect-failed'));
  });

  // Each record was written on its own, thousands of times in one turn of the event loop.
  test('writes short records that arrive together to the backend together', async () => {
    const at = listener('tls', 'Terminate');
    const size = 2_000;
    const received: Buffer[] = [];
    const backend = await startRawBackend((socket) => socket.on('data', (chunk: Buffer) => received.push(chunk)));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['']));
    const socket = connect(started.portOf(at), hostOf(3)).on('error', () => undefined);
    closers.push(() => socket.destroy());
    const peer = await TlsPeer.connect(socket);
    const writes = jest.spyOn(Output.prototype, 'writeBytes');
    // The relay must have begun to write directly.
    for (const text of ['a', 'b']) {
      peer.write(peer.data(text));
      await eventually(() => expect(Buffer.concat(received).toString()).toContain(text));
    }
    peer.write(Buffer.concat(Array.from({ length: size }, (_, index) => peer.data(`${index % 10}`))));
    await eventually(() => expect(Buffer.concat(received).toString()).toBe(`ab${'0123456789'.repeat(size / 10)}`));
    expect(writes.mock.calls.length).toBeLessThan(200);
    writes.mockRestore();
  });

  test('ends the connection of the client when the backend resets', async () => {
    const at = listener('tls', 'Terminate');
    const backend = await startRawBackend((socket) => socket.on('data', () => socket.resetAndDestroy()));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['']));
    const socket = open(started, 'a.example.com');
    socket.write('x');
    // Node tells of no difference between an end with and without close_notify.
    expect((await endOf(socket)).received).toBe('');
    await eventually(() => expect(started.connections[0]?.reason).toBe('backend-reset'));
    await eventually(() => expect(started.proxy.counters().openConnections).toBe(0));
  });

  test('goes on with a connection when the certificate changes', async () => {
    const at = listener('tls', 'Terminate');
    const backend = await startRawBackend((socket) => socket.pipe(socket));
    const started = await start(at, endpointsConfig('app', backend.port), tlsRoute('a', at, ['']));
    const socket = open(started, 'a.example.com');
    await once(socket, 'secureConnect');
    const before = pairs.get('infra/server');
    pairs.set('infra/server', await issueLeaf(authority, { dnsNames: ['a.example.com'], commonName: 'renewed' }));
    await started.proxy.reloadCertificates();
    socket.write('still here');
    await receiveUntil(socket, 'still here');
    const another = open(started, 'a.example.com');
    await once(another, 'secureConnect');
    expect(another.getPeerCertificate().subject.CN).toBe('renewed');
    for (const each of [socket, another]) each.destroy();
    if (before !== undefined) pairs.set('infra/server', before);
  });

  test('counts clients that leave their handshake unfinished', async () => {
    const at = listener('tls', 'Terminate');
    const started = await startLayer4([at, tlsRoute('a', at, [''])], {
      certificates: (secret) => pairs.get(secret),
      limits: { tlsHandshakeTimeout: 50 },
    });
    const silent = dial(started, at);
    silent.write((await helloOf({ servername: 'a.example.com' })).subarray(0, 100));
    const stopped = dial(started, at);
    stopped.write(await helloOf({ servername: 'a.example.com' }));
    await Promise.all([endOf(silent), endOf(stopped)]);
    await eventually(() => expect(started.proxy.counters()).toMatchObject({ openConnections: 0, tlsFailures: 2 }));
    expect(started.proxy.counters().limitsReached['handshake-time']).toBe(2);
  });
});

describe('one port', () => {
  const https = listenerConfig('https', {
    protocol: 'HTTPS',
    port: 3,
    hostname: 'web.example.com',
    certificates: ['infra/server'],
  });

  async function startMixed(): Promise<Layer4UnderTest> {
    const [terminated, passed] = [
      listener('terminated', 'Terminate', 'terminated.example.com'),
      listener('passed', 'Passthrough', '*.example.com'),
    ];
    const web = routeTo('web');
    return start(
      https,
      terminated,
      passed,
      endpointsConfig('web', (await startEcho()).port),
      endpointsConfig(
        'plain',
        (await startRawBackend((socket) => socket.on('data', () => socket.write('plain')))).port,
      ),
      endpointsConfig('secure', await startTlsBackend('secure')),
      { ...web, attachments: [{ listener: https.key, hostnames: [''] }] },
      tlsRoute('terminated', terminated, ['terminated.example.com'], 'plain'),
      tlsRoute('passed', passed, ['*.example.com'], 'secure'),
    );
  }

  test('serves HTTPS, termination and passthrough by server name', async () => {
    const started = await startMixed();
    const request = 'GET / HTTP/1.1\r\nHost: web.example.com\r\nConnection: close\r\n\r\n';
    const web = open(started, 'web.example.com');
    web.write(request);
    expect((await endOf(web)).received).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(started, 'terminated.example.com')).toBe('plain');
    expect(await ask(started, 'passed.example.com')).toMatch(/^secure passed\.example\.com /);
    expect(await ask(started, 'other.test')).toBe('closed');
  });

  test('serves requests for the host of a TLS listener on no HTTPS connection', async () => {
    const started = await startMixed();
    const web = open(started, 'web.example.com');
    web.write('GET / HTTP/1.1\r\nHost: passed.example.com\r\nConnection: close\r\n\r\n');
    expect((await endOf(web)).received).toMatch(/^HTTP\/1\.1 421 /);
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

(hasOpenssl ? describe : describe.skip)('openssl s_client', () => {
  test.each([
    ['Passthrough', '-tls1_2'],
    ['Passthrough', '-tls1_3'],
    ['Terminate', '-tls1_2'],
    ['Terminate', '-tls1_3'],
  ] as const)('speaks through %s (%s)', async (mode, version) => {
    const at = listener('tls', mode);
    const backend =
      mode === 'Passthrough'
        ? await startTlsBackend('b')
        : (
            await startRawBackend((socket) =>
              socket.on('data', (chunk: Buffer) => socket.write(`plain ${chunk.toString()}`)),
            )
          ).port;
    const started = await start(at, endpointsConfig('app', backend), tlsRoute('a', at, ['a.example.com']));
    const client = spawn(
      'openssl',
      ['s_client', '-quiet', '-connect', `${hostOf(3)}:${started.portOf(at)}`, '-servername', 'a.example.com', version],
      { stdio: ['pipe', 'pipe', 'ignore'] },
    );
    const ended = once(client, 'close');
    let output = '';
    client.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    client.stdin.write('hello\n');
    await eventually(() =>
      expect(output).toContain(mode === 'Passthrough' ? 'b a.example.com false hello' : 'plain hello'),
    );
    client.kill();
    await ended;
  });
});
