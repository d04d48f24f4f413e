import { once } from 'node:events';
import { request as startRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import type { Authority } from '../../../src/certificates/index.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import type { Echo } from '../../support/backends.ts';
import { helloOf } from '../../support/client-hello.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import { closeProxies, fieldValues, routeTo, sendRaw, startProxy, web } from '../../support/proxy.ts';
import type { Received } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';
import { TlsPeer } from '../../support/tls-peer.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

let authority: Authority;
const pairs = new Map<string, CertificatePair>();

async function issue(...dnsNames: readonly string[]): Promise<CertificatePair> {
  const { certificate, privateKey } = await issueServingCertificate(authority, { dnsNames, ipAddresses: [] });
  return { cert: certificate, key: privateKey };
}

beforeAll(async () => {
  authority = await createAuthority();
  pairs.set('shop/shop', await issue('shop.example.com'));
  pairs.set('shop/wild', await issue('*.example.com'));
  pairs.set('shop/other', await issue('other.test', 'spare.test'));
  pairs.set('shop/broken', { cert: 'no certificate', key: 'no key' });
});

const secure = (name: string, certificates: readonly string[], hostname?: string) =>
  listenerConfig(name, { port: 443, protocol: 'HTTPS', certificates, ...(hostname === undefined ? {} : { hostname }) });
const shop = secure('shop', ['shop/shop'], 'shop.example.com');
const wild = secure('wild', ['shop/wild'], '*.example.com');
const any = secure('any', ['shop/other']);

/** A proxy whose only listeners are these, each with a route to an echo. */
async function startSecure(...listeners: readonly ReturnType<typeof secure>[]) {
  const backend = await startEcho();
  const route = routeConfig('shop/web', {
    attachments: listeners.map(({ key }) => ({ listener: key, hostnames: [''] })),
    rules: routeTo('app').rules,
  });
  const started = await startProxy([...listeners, endpointsConfig('app', backend.port), route], {
    certificates: (secret) => pairs.get(secret),
  });
  await started.proxy.apply({ upserts: [], removals: [web.key] });
  return started;
}

/** A request over TLS with its server name (`''`: none) and Host. */
function sendSecure(
  port: number,
  servername: string,
  options: RequestOptions = {},
): Promise<Received & { names: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<Received & { names: string | undefined }>();
  const checkServerIdentity = servername === '' ? { checkServerIdentity: () => undefined } : {};
  const request = startRequest({
    host: '127.0.0.1',
    port,
    servername,
    ca: authority.certificate,
    agent: false,
    headers: { host: servername },
    ...checkServerIdentity,
    ...options,
  });
  request.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = [];
    const names = (response.socket as TLSSocket).getPeerCertificate().subjectaltname;
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
    response.on('end', () => {
      const { statusCode: status = 0, headers, trailers } = response;
      resolve({ status, headers, trailers, body: Buffer.concat(chunks).toString(), names });
    });
  });
  request.end();
  return promise;
}

/** How a handshake ends: the protocol chosen by ALPN, or the code of the error. */
function handshake(port: number, options: ConnectionOptions): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ...options });
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  socket.on('secureConnect', () => {
    resolve(socket.alpnProtocol);
    socket.destroy();
  });
  return promise;
}

describe('TLS termination', () => {
  test('the server name picks listener and certificate; the backend learns of TLS', async () => {
    const { port } = await startSecure(shop, wild, any);
    const answer = await sendSecure(port, 'shop.example.com');
    expect(answer).toMatchObject({ status: 200, names: 'DNS:shop.example.com' });
    expect(fieldValues(JSON.parse(answer.body), 'x-forwarded-proto')).toEqual(['https']);
    expect((await sendSecure(port, 'cart.example.com')).names).toBe('DNS:*.example.com');
    expect((await sendSecure(port, 'other.test')).names).toBe('DNS:other.test, DNS:spare.test');
  });

  test('a client without a server name gets the listener for any', async () => {
    const { port } = await startSecure(shop, any);
    expect(await sendSecure(port, '', { headers: { host: 'other.test' } })).toMatchObject({
      status: 200,
      names: 'DNS:other.test, DNS:spare.test',
    });
    const { port: named } = await startSecure(shop);
    await expect(sendSecure(named, '', { headers: { host: 'shop.example.com' } })).rejects.toThrow(/handshake failure/);
  });

  test('of several certificates the one that covers the name is shown', async () => {
    const { port } = await startSecure(secure('both', ['shop/shop', 'shop/other']));
    expect((await sendSecure(port, 'spare.test')).names).toBe('DNS:other.test, DNS:spare.test');
    expect((await sendSecure(port, 'shop.example.com')).names).toBe('DNS:shop.example.com');
  });

  test('a name that no listener serves ends without an alert', async () => {
    const { port, proxy } = await startSecure(shop);
    expect(await handshake(port, { servername: 'unknown.test' })).toBe('ECONNRESET');
    await eventually(() => expect(proxy.counters()).toMatchObject({ tlsFailures: 1, openConnections: 0 }));
  });

  test('a client that leaves before its turn costs no handshake', async () => {
    const { port, proxy } = await startSecure(shop);
    const hello = await helloOf({ servername: 'shop.example.com' });
    const answers = Array.from({ length: 20 }, async () => buffer(connectTcp(port, '127.0.0.1').end(hello)));
    expect(Buffer.concat(await Promise.all(answers))).toHaveLength(0);
    await eventually(() => expect(proxy.counters()).toMatchObject({ tlsFailures: 20, openConnections: 0 }));
  });

  test('a client that changes its keys a few times is served', async () => {
    const { port } = await startSecure(any);
    const socket = connectTcp(port, '127.0.0.1');
    const client = await TlsPeer.connect(socket);
    client.write(client.keyUpdates(10));
    const bytesBefore = socket.bytesRead;
    client.write(client.data('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'));
    // The tickets of the handshake are shorter, and the response of the echo is not.
    await eventually(() => expect(socket.bytesRead - bytesBefore).toBeGreaterThan(200));
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });

  test('a client that changes its keys all the time loses its connection', async () => {
    const { port, proxy } = await startSecure(any);
    const socket = connectTcp(port, '127.0.0.1').on('error', () => undefined);
    const client = await TlsPeer.connect(socket);
    const closed = new Promise((resolve) => void socket.resume().once('close', resolve));
    client.write(client.keyUpdates(200));
    await closed;
    expect(proxy.counters().limitsReached['tls-messages']).toBe(1);
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
  });

  test.each(['at once', 'during a request'])('an invalid record %s ends the connection', async (when) => {
    const { port, proxy } = await startSecure(any);
    const socket = connectTcp(port, '127.0.0.1').on('error', () => undefined);
    const client = await TlsPeer.connect(socket);
    const closed = new Promise((resolve) => void socket.resume().once('close', resolve));
    if (when === 'during a request')
      client.write(client.data('POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\n'));
    client.write(client.brokenRecord());
    await closed;
    await eventually(() => expect(proxy.counters()).toMatchObject({ openConnections: 0, openRequests: 0 }));
  });

  test('TLS 1.2 is the least; HTTP/2 comes before HTTP/1.1', async () => {
    const { port } = await startSecure(shop);
    const servername = 'shop.example.com';
    expect(
      await handshake(port, {
        servername,
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
    ).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    expect(await handshake(port, { servername, maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1', 'h2'] })).toBe('h2');
    expect(await handshake(port, { servername, ALPNProtocols: ['http/1.1'] })).toBe('http/1.1');
    expect(await handshake(port, { servername, ALPNProtocols: ['h3'] })).toMatch(/ALERT_NO_APPLICATION_PROTOCOL$/);
  });

  test('HTTP/2 where the client asks for it', async () => {
    const { port, log } = await startSecure(shop);
    const session = openHttp2(port, { servername: 'shop.example.com', ca: authority.certificate });
    const { status, body } = await request(session, { ':authority': 'shop.example.com' });
    expect(status).toBe(200);
    expect(fieldValues(JSON.parse(body) as Echo, 'x-forwarded-proto')).toEqual(['https']);
    await eventually(() => expect(log).toEqual([expect.objectContaining({ status: 200, listener: shop.key })]));
  });

  test('on one HTTP/2 connection each request is judged by its own host', async () => {
    const { port } = await startSecure(shop, wild, any);
    const statuses = async (servername: string, ...hosts: readonly string[]) => {
      const session = openHttp2(port, { servername, ca: authority.certificate });
      return (await Promise.all(hosts.map((host) => request(session, { ':authority': host })))).map(
        ({ status }) => status,
      );
    };
    expect(await statuses('shop.example.com', 'shop.example.com', 'cart.example.com', 'other.test')).toEqual([
      200, 421, 421,
    ]);
    expect(await statuses('cart.example.com', 'shop.example.com', 'a.example.com:443', 'other.test')).toEqual([
      421, 200, 421,
    ]);
    expect(await statuses('other.test', 'shop.example.com', 'a.example.com', 'unknown.test')).toEqual([421, 421, 200]);
  });

  test('a removed listener ends its HTTP/2 connections with the next answer', async () => {
    const { port, proxy } = await startSecure(shop, wild);
    const session = openHttp2(port, { servername: 'shop.example.com', ca: authority.certificate });
    expect(await request(session, { ':authority': 'shop.example.com' })).toMatchObject({ status: 200 });
    await proxy.apply({ upserts: [], removals: [shop.key] });
    const goaway = once(session, 'goaway');
    expect(await request(session, { ':authority': 'shop.example.com' })).toMatchObject({ status: 421 });
    await goaway;
  });

  test('a request for another listener than the connection was opened for is misdirected', async () => {
    const { port } = await startSecure(shop, wild);
    const status = async (servername: string, host: string) =>
      (await sendSecure(port, servername, { headers: { host } })).status;
    expect(await status('cart.example.com', 'shop.example.com')).toBe(421);
    expect(await status('shop.example.com', 'cart.example.com')).toBe(421);
    expect(await status('shop.example.com', 'unknown.test')).toBe(404);
    expect(await status('a.example.com', 'b.example.com')).toBe(200);
  });

  test('a redirect keeps scheme and port of the listener', async () => {
    const { port, apply } = await startSecure(shop);
    await apply(
      routeConfig('shop/web', {
        attachments: [{ listener: shop.key, hostnames: [''] }],
        rules: [
          {
            ...(routeTo('app').rules[0] ?? { index: 0, matches: [], backends: [] }),
            filters: [{ type: 'redirect', path: { type: 'full', value: '/b' }, statusCode: 302 }],
          },
        ],
      }),
    );
    expect((await sendSecure(port, 'shop.example.com')).headers.location).toBe('https://shop.example.com/b');
  });
});

describe('certificates', () => {
  test('one that is missing or broken is a problem of its listener alone', async () => {
    const { port, apply } = await startSecure(shop);
    const problems = await apply(
      secure('missing', ['shop/none'], 'a.test'),
      secure('broken', ['shop/broken', 'shop/other'], 'other.test'),
      secure('bare', [], 'b.test'),
    );
    expect(problems).toEqual([
      { key: 'listener/infra/gateway/missing', message: 'the certificate of Secret "shop/none" is not there' },
      {
        key: 'listener/infra/gateway/broken',
        message: expect.stringMatching(/^the certificate of Secret "shop\/broken" cannot be used: /),
      },
      { key: 'listener/infra/gateway/bare', message: expect.stringContaining('names no certificate') },
    ]);
    expect(JSON.stringify(problems)).not.toContain('no key');
    expect((await sendSecure(port, 'shop.example.com')).status).toBe(200);
    // The handshake succeeds with the certificate that is good; no route is attached there.
    expect(await sendSecure(port, 'other.test')).toMatchObject({
      status: 404,
      names: 'DNS:other.test, DNS:spare.test',
    });
    expect(await handshake(port, { servername: 'a.test' })).toBe('ECONNRESET');
  });

  test('a listener without any keeps its hostname from a wildcard listener', async () => {
    const { port } = await startSecure(wild, secure('bare', [], 'bare.example.com'));
    expect((await sendSecure(port, 'other.example.com')).status).toBe(200);
    expect(await handshake(port, { servername: 'bare.example.com' })).toBe('ECONNRESET');
    expect((await sendSecure(port, 'other.example.com', { headers: { host: 'bare.example.com' } })).status).toBe(421);
  });

  test('a port of which no listener has any is not bound until one has', async () => {
    const bare = secure('bare', [], 'bare.example.com');
    const { proxy, apply } = await startProxy([], {
      bind: ({ port }) => [{ host: port === 443 ? '127.0.0.2' : '127.0.0.1', port: 0 }],
      certificates: (secret) => pairs.get(secret),
    });
    await apply(bare);
    expect(proxy.addressesOf(bare.key)).toEqual([]);
    await apply({ ...bare, certificates: ['shop/wild'] });
    expect(proxy.addressesOf(bare.key)).toMatchObject([{ host: '127.0.0.2' }]);
  });

  test('a new one is shown to new connections once it is reloaded', async () => {
    const { port, proxy } = await startSecure(secure('renewed', ['shop/renewed']));
    pairs.set('shop/renewed', await issue('old.test'));
    expect(await proxy.reloadCertificates()).toEqual([]);
    expect((await sendSecure(port, 'old.test')).names).toBe('DNS:old.test');
    pairs.set('shop/renewed', await issue('new.test'));
    await proxy.reloadCertificates();
    expect((await sendSecure(port, 'new.test')).names).toBe('DNS:new.test');
  });

  test('a removed listener ends its connections with the next answer', async () => {
    const { port, proxy } = await startSecure(shop, wild);
    const socket = connect({ host: '127.0.0.1', port, servername: 'shop.example.com', ca: authority.certificate });
    const get = 'GET / HTTP/1.1\r\nHost: shop.example.com\r\n\r\n';
    socket.write(get);
    await once(socket, 'data');
    await proxy.apply({ upserts: [], removals: [shop.key] });
    socket.write(get);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // The host now belongs to the wildcard listener, for which this connection was not opened.
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 421 [^]*connection: close/i);
    await once(socket, 'close');
  });
});

describe('other protocols on a port', () => {
  test('plain HTTP where only TLS is served is told so', async () => {
    const { port } = await startSecure(shop);
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [^]*The port serves HTTPS/,
    );
  });

  test('both are served where both are configured', async () => {
    const { port, apply } = await startSecure(shop);
    await apply(
      web,
      routeConfig('shop/plain', {
        key: 'route/shop/plain',
        attachments: [{ listener: web.key, hostnames: [''] }],
        rules: routeTo('app').rules,
      }),
    );
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect((await sendSecure(port, 'shop.example.com')).status).toBe(200);
  });

  test('TLS where none is served is closed', async () => {
    const { port } = await startProxy([]);
    expect(await handshake(port, { servername: 'shop.example.com' })).toBe('ECONNRESET');
  });
});
