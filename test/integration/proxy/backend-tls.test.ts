import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../src/certificates/index.ts';
import type { BackendTls } from '../../../src/core/routing/config.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { Output } from '../../../src/proxy/sockets/output.ts';
import { issueLeaf, type LeafOptions } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { closeProxies, routeTo, send, startProxy } from '../../support/proxy.ts';
import { TlsPeer } from '../../support/tls-peer.ts';
import { Tls12Peer } from '../../support/tls12-peer.ts';

let authority: Authority;
let stranger: Authority;
const servers = new Set<Server>();
const tcpServers = new Set<TcpServer>();

beforeAll(async () => {
  [authority, stranger] = await Promise.all([createAuthority(), createAuthority(undefined, 'stranger')]);
});
afterEach(closeProxies);
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers.clear();
  for (const server of tcpServers) server.close();
  tcpServers.clear();
});

/** A request that waits for its answer, and the connection that it came by. */
interface Held {
  readonly socket: TLSSocket;
  readonly answer: () => void;
}

interface SecureBackend {
  readonly port: number;
  handshakes(): number;
  /** The next request is not answered by itself. */
  holdNext(): Promise<Held>;
}

/** A backend over TLS that answers with what it saw: server name, and the subject of the client's certificate. */
async function startSecureBackend(leaf: LeafOptions, issuer = authority): Promise<SecureBackend> {
  let handshakes = 0;
  let hold: ((held: Held) => void) | undefined;
  const server = createServer(
    { ...(await issueLeaf(issuer, leaf)), ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const answer = (): void => {
        response.end(
          JSON.stringify({
            serverName: socket.servername,
            host: request.headers.host,
            client: socket.authorized,
            reused: socket.isSessionReused(),
          }),
        );
      };
      if (hold === undefined) answer();
      else hold({ socket, answer });
      hold = undefined;
    },
  );
  server.on('secureConnection', () => {
    handshakes += 1;
  });
  servers.add(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    handshakes: () => handshakes,
    holdNext: () =>
      new Promise((resolve) => {
        hold = resolve;
      }),
  };
}

const policy = (parts: Partial<BackendTls> = {}): BackendTls => ({
  serverName: 'inner.shop.example',
  subjectAltNames: [],
  authorities: [authority.certificate],
  ...parts,
});

function startProxyOver(port: number, tls: BackendTls) {
  return startProxy([{ ...endpointsConfig('app', port), tls }, routeTo('app')]);
}

test('the backend is asked by the name of the policy, whatever the host of the request; connections are kept', async () => {
  const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] });
  const { port } = await startProxyOver(backend.port, policy());
  for (const host of ['one.example', 'two.example']) {
    expect(await send(port, '/', { headers: { host } })).toMatchObject({
      status: 200,
      body: JSON.stringify({ serverName: 'inner.shop.example', host, client: false, reused: false }),
    });
  }
  expect(backend.handshakes()).toBe(1);
});

describe('a backend that does not prove who it is gets nothing', () => {
  const uri = 'spiffe://cluster/ns/shop';
  test.each<[string, LeafOptions, Partial<BackendTls>, number]>([
    ['another name', { dnsNames: ['other.example'] }, {}, 503],
    ['a wildcard', { dnsNames: ['*.shop.example'] }, {}, 200],
    [
      'an alternative host name',
      { dnsNames: ['alt.example'] },
      { subjectAltNames: [{ type: 'Hostname', value: 'alt.example' }] },
      200,
    ],
    [
      'one of several names',
      { uris: [uri] },
      {
        subjectAltNames: [
          { type: 'Hostname', value: 'alt.example' },
          { type: 'URI', value: uri },
        ],
      },
      200,
    ],
    [
      'the server name alone, where others are asked for',
      { dnsNames: ['inner.shop.example'] },
      { subjectAltNames: [{ type: 'Hostname', value: 'alt.example' }] },
      503,
    ],
    [
      'a common name alone',
      { commonName: 'alt.example' },
      { subjectAltNames: [{ type: 'Hostname', value: 'alt.example' }] },
      503,
    ],
    ['a common name alone, as server name', { commonName: 'inner.shop.example' }, {}, 503],
    ['a URI for a host name', { uris: [uri] }, {}, 503],
    ['another URI', { uris: [`${uri}/more`] }, { subjectAltNames: [{ type: 'URI', value: uri }] }, 503],
    [
      'a URI inside another one',
      { uris: [`https://evil.example/, URI:${uri}, x`] },
      { subjectAltNames: [{ type: 'URI', value: uri }] },
      503,
    ],
    ['a name in a URI', { uris: ['https://inner.shop.example'] }, {}, 503],
  ])('%s', async (_what, leaf, parts, status) => {
    const backend = await startSecureBackend(leaf);
    const { port } = await startProxyOver(backend.port, policy(parts));
    expect((await send(port, '/')).status).toBe(status);
  });

  test('an authority that is not trusted', async () => {
    const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] }, stranger);
    const { port, log } = await startProxyOver(backend.port, policy());
    expect((await send(port, '/')).status).toBe(503);
    expect(log).toEqual([expect.objectContaining({ reason: 'connect-failed' })]);
  });

  test('an authority of our own is no public one', async () => {
    const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] });
    const { port } = await startProxyOver(backend.port, policy({ authorities: 'system' }));
    expect((await send(port, '/')).status).toBe(503);
  });
});

test('the Gateway proves who it is, with the certificate that is current', async () => {
  const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] });
  let identity = await issueLeaf(stranger, {});
  const listener = listenerConfig('web', { backendCertificate: 'infra/identity' });
  const { port } = await startProxy(
    [listener, { ...endpointsConfig('app', backend.port), tls: policy() }, routeTo('app')],
    {
      certificates: (secret) => (secret === 'infra/identity' ? identity : undefined),
    },
  );
  expect(JSON.parse((await send(port, '/')).body)).toMatchObject({ client: false });
  identity = await issueLeaf(authority, {});
  expect(JSON.parse((await send(port, '/')).body)).toMatchObject({ client: true });
});

test('a new certificate ends connections that were made with the one before, and no request on them', async () => {
  const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] });
  const held = backend.holdNext();
  let identity = await issueLeaf(authority, {});
  const { port } = await startProxy(
    [
      listenerConfig('web', { backendCertificate: 'infra/identity' }),
      { ...endpointsConfig('app', backend.port), tls: policy() },
      routeTo('app'),
    ],
    {
      certificates: () => identity,
    },
  );
  const first = send(port, '/');
  const { socket, answer } = await held;
  identity = await issueLeaf(authority, {});
  expect((await send(port, '/')).status).toBe(200);
  const closed = once(socket, 'close');
  answer();
  expect((await first).status).toBe(200);
  await closed;
  expect((await send(port, '/')).status).toBe(200);
  expect(backend.handshakes()).toBe(2);
});

test('endpoints that must not be used: 500, and nothing is sent', async () => {
  const backend = await startSecureBackend({ dnsNames: ['inner.shop.example'] });
  const { port } = await startProxy([
    { ...endpointsConfig('app', backend.port), failure: 'no authority' },
    routeTo('app'),
  ]);
  expect((await send(port, '/')).status).toBe(500);
  expect(backend.handshakes()).toBe(0);
});

// A backend could otherwise repeat handshakes for as long as it wants.
test('a backend cannot renegotiate', async () => {
  const leaf = await issueLeaf(authority, { dnsNames: ['cart.example.com'] });
  const { promise: asked, resolve } = Promise.withResolvers<Error | null>();
  const server = createServer({ ...leaf, maxVersion: 'TLSv1.2' }, (request) => {
    const socket = request.socket as TLSSocket;
    socket.on('error', resolve).renegotiate({}, resolve);
  });
  servers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const tls = { serverName: 'cart.example.com', subjectAltNames: [], authorities: [authority.certificate] };
  const proxy = await startProxy([{ ...endpointsConfig('app', port), tls }, routeTo('app')]);
  expect((await send(proxy.port, '/')).status).toBe(502);
  expect((await asked)?.message).toContain('renegotiation');
});

/** A backend that writes its TLS records itself, once the handshake is complete. */
async function startPeer<Peer>(
  version: { accept(socket: Socket, pair: CertificatePair): Promise<Peer> },
  leaf: LeafOptions,
  begin: (peer: Peer) => void,
): Promise<number> {
  const pair = await issueLeaf(authority, leaf);
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    void version.accept(socket, pair).then(begin);
  });
  tcpServers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

test('a backend cannot choose a Diffie-Hellman group of its own, however large', async () => {
  const rsa = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const leaf = await issueLeaf(authority, { dnsNames: ['inner.shop.example'], keyAlgorithm: rsa });
  const ciphers = 'DHE-RSA-AES128-GCM-SHA256';
  const server = createServer({ ...leaf, maxVersion: 'TLSv1.2', ciphers, dhparam: 'auto' }, (_request, response) => {
    response.end();
  });
  const { promise: refused, resolve } = Promise.withResolvers<NodeJS.ErrnoException>();
  server.on('tlsClientError', resolve);
  servers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = await startProxyOver((server.address() as AddressInfo).port, policy());
  expect((await send(port, '/')).status).toBe(503);
  expect((await refused).code).toBe('ERR_SSL_NO_SHARED_CIPHER');
});

describe('a backend that changes its keys', () => {
  /** A backend that changes its keys so many times before it sends its answer. */
  async function startUpdating(updates: number, answer: string): Promise<number> {
    return await startPeer(TlsPeer, { dnsNames: ['inner.shop.example'] }, (peer) => {
      peer.write(peer.keyUpdates(updates));
      peer.write(peer.data(answer));
    });
  }

  test('a few times is served', async () => {
    const { port } = await startProxyOver(
      await startUpdating(10, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      policy(),
    );
    expect(await send(port, '/')).toMatchObject({ status: 200, body: 'ok' });
  });

  test('all the time loses the connection', async () => {
    const { port } = await startProxyOver(await startUpdating(200, ''), policy());
    expect((await send(port, '/')).status).toBe(502);
  });
});

describe('a backend that sends session tickets', () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

  /** A backend whose certificate has so many names of 40 characters. */
  async function startSending(names: number, records: (peer: TlsPeer) => readonly Buffer[]): Promise<number> {
    const others = Array.from({ length: names }, (_, index) => `${index}`.padStart(32, 'x') + '.example');
    return await startPeer(TlsPeer, { dnsNames: ['inner.shop.example', ...others] }, (peer) => {
      for (const record of records(peer)) peer.write(record);
    });
  }

  const ticketsOf = (peer: TlsPeer, count: number): Buffer[] =>
    Array.from({ length: count }, () => peer.sessionTicket(1));

  test.each([0, 150])('a few times is served, with %d more names in its certificate', async (names) => {
    const backend = await startSending(names, (peer) => [...ticketsOf(peer, 10), peer.data(answer)]);
    const { port } = await startProxyOver(backend, policy());
    expect(await send(port, '/')).toMatchObject({ status: 200, body: 'ok' });
  });

  test.each([0, 150])('all the time loses the connection, with %d more names in its certificate', async (names) => {
    const backend = await startSending(names, (peer) => ticketsOf(peer, 200));
    const { port } = await startProxyOver(backend, policy());
    expect((await send(port, '/')).status).toBe(502);
  });

  test('has no certificate so large that Node does not report its tickets', async () => {
    const backend = await startSending(400, (peer) => [peer.data(answer)]);
    const { port } = await startProxyOver(backend, policy());
    expect((await send(port, '/')).status).toBe(503);
  });
});

describe('a backend that asks for other handshakes', () => {
  /** A backend with TLS 1.2 that sends so many requests for another handshake, and then its answer. */
  async function startAsking(requests: number, answer: string): Promise<number> {
    return await startPeer(Tls12Peer, { dnsNames: ['inner.shop.example'] }, (peer) => {
      peer.write(Buffer.concat(Array.from({ length: requests }, () => peer.helloRequest())));
      peer.write(peer.data(answer));
    });
  }

  test('a few times is served', async () => {
    const { port } = await startProxyOver(
      await startAsking(10, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      policy(),
    );
    expect(await send(port, '/')).toMatchObject({ status: 200, body: 'ok' });
  });

  test('all the time loses the connection', async () => {
    const { port } = await startProxyOver(await startAsking(200, ''), policy());
    expect((await send(port, '/')).status).toBe(502);
  });
});

test('a backend that sends an invalid record loses the connection', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
  const backend = await startPeer(TlsPeer, { dnsNames: ['inner.shop.example'] }, (peer) => {
    peer.write(Buffer.concat([peer.data(head.slice(0, 20)), peer.brokenRecord()]));
  });
  const { port } = await startProxyOver(backend, policy());
  expect((await send(port, '/')).status).toBe(502);
});

test('a backend whose handshake does not end loses the connection', async () => {
  const helloRequest = Buffer.from([22, 3, 3, 0, 4, 0, 0, 0, 0]);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.once('data', () => void socket.write(Buffer.alloc(2 ** 20, helloRequest)));
  });
  tcpServers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: endpoint } = server.address() as AddressInfo;
  const { port } = await startProxy([{ ...endpointsConfig('app', endpoint), tls: policy() }, routeTo('app')], {
    limits: { connectTimeout: 600_000 },
  });
  const answer = send(port, '/');
  await closed;
  expect((await answer).status).toBe(503);
});

test('short records that arrive together are written to the client together', async () => {
  const size = 2_000;
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`;
  const backend = await startPeer(TlsPeer, { dnsNames: ['inner.shop.example'] }, (peer) => {
    peer.write(
      Buffer.concat([peer.data(head), ...Array.from({ length: size }, (_, index) => peer.data(`${index % 10}`))]),
    );
  });
  const { port } = await startProxyOver(backend, policy());
  const writes = jest.spyOn(Output.prototype, 'write');
  expect(await send(port, '/')).toMatchObject({ status: 200, body: '0123456789'.repeat(size / 10) });
  expect(writes.mock.calls.length).toBeLessThan(200);
  writes.mockRestore();
});

test('a backend that presents many certificates loses the connection', async () => {
  const { key, cert } = await issueLeaf(authority, { dnsNames: ['inner.shop.example'] });
  // 40 KB. It never answers.
  const chain = Array.from({ length: 100 }, () => String(cert)).join('\n');
  const server = createServer({ key, cert: chain }, () => undefined);
  servers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = await startProxyOver((server.address() as AddressInfo).port, policy());
  expect((await send(port, '/')).status).toBeGreaterThanOrEqual(502);
});
